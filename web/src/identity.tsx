/** Choice of the agent and the user that the page acts for. */

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useLoaded } from "./loading";
import { useSession } from "./session";
import type { Identity } from "./session";

const SHOWN = 200;

interface PickerProps {
  identity: Identity;
  choose: (identity: Identity) => Promise<boolean>;
  problem: string | null;
  signOut: (() => void) | undefined;
}

export function Picker({ identity, choose, problem, signOut }: PickerProps): VNode {
  const { caller, client, isUnbound, may } = useSession();
  const lists = may("admin") && isUnbound;
  const names = useLoaded(
    async () => {
      if (!lists) return { agents: [], users: [] };
      const [agents, users] = await Promise.all([client.agents({ limit: SHOWN }), client.users({ limit: SHOWN })]);
      return { agents: agents.items.map((item) => item.agent), users: users.items.map((item) => item.user_id) };
    },
    [client],
  );
  return (
    <div class="who">
      <dl class="tenant"><dt>Tenant</dt><dd>{caller.tenant_id}</dd><dt>Role</dt><dd>{caller.key_role}</dd></dl>
      <Name label="Agent" value={caller.agent} isFixed={caller.key_agent !== null} names={names.value?.agents ?? []} choose={(agent) => choose({ ...identity, agent })} />
      <Name label="User" value={caller.user ?? ""} isFixed={caller.key_user !== null} names={names.value?.users ?? []} choose={(user) => choose({ ...identity, user })} />
      {problem !== null && <p class="problem" role="alert">{problem}</p>}
      {signOut !== undefined && <button type="button" class="link" onClick={signOut}>Sign out</button>}
    </div>
  );
}

interface NameProps {
  label: string;
  value: string;
  isFixed: boolean;
  names: string[];
  choose: (name: string) => Promise<boolean>;
}

/** A name of the list, or any other that is typed. */
function Name({ label, value, isFixed, names, choose }: NameProps): VNode {
  const [typed, setTyped] = useState<string | null>(null);
  const id = `who-${label.toLowerCase()}`;
  const finish = (): void => {
    if (typed !== null && typed.trim() !== value) void choose(typed.trim());
    setTyped(null);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    finish();
  };
  return (
    <form class="name" onSubmit={submit}>
      <label for={id}>{label}</label>
      <input
        id={id}
        list={`${id}-names`}
        value={typed ?? value}
        placeholder={label === "User" ? "none" : ""}
        readOnly={isFixed}
        title={isFixed ? `The key speaks for this ${label.toLowerCase()} alone` : undefined}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={finish}
      />
      <datalist id={`${id}-names`}>{names.map((name) => <option key={name} value={name} />)}</datalist>
    </form>
  );
}
