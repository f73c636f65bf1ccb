/** Application: signs in, and shows one view beside the navigation. */

import { Component } from "preact";
import type { ComponentChildren, ComponentType, VNode } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Unauthenticated } from "engrain";
import { Picker } from "./identity";
import { NoticeBar, NoticeContext } from "./notices";
import type { Notice } from "./notices";
import { Problem } from "./parts";
import { address, usePlace } from "./router";
import { explainError, forgetSession, NOBODY, openSession, redeemOneTimeKey, SessionContext, storedIdentity, storedKey, storeSession, useSession } from "./session";
import type { Identity, Role, Session } from "./session";
import { AdminView } from "./views/admin";
import { ContextView } from "./views/context";
import { EntitiesView } from "./views/entities";
import { LearningView } from "./views/learning";
import { MemoryView } from "./views/memory";
import { OverviewView } from "./views/overview";
import { SearchView } from "./views/search";
import { TimelineView } from "./views/timeline";
import type { Place } from "./router";

interface View {
  name: string;
  title: string;
  needs: Role;
  /** Whether only a key for every agent and user can ask for it. */
  isForAll?: boolean;
  show: ComponentType<{ place: Place }>;
}

const VIEWS: readonly View[] = [
  { name: "search", title: "Search", needs: "reader", show: SearchView },
  { name: "context", title: "Context", needs: "reader", show: ContextView },
  { name: "timeline", title: "Timeline", needs: "reader", show: TimelineView },
  { name: "entities", title: "Entities", needs: "reader", show: EntitiesView },
  { name: "learning", title: "Learning", needs: "reader", show: LearningView },
  { name: "overview", title: "Overview", needs: "reader", show: OverviewView },
  { name: "admin", title: "Administration", needs: "admin", isForAll: true, show: AdminView },
];

export function App(): VNode {
  const [session, setSession] = useState<Session | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [asksForKey, setAsksForKey] = useState(false);
  const [identity, setIdentity] = useState<Identity>(NOBODY);
  const key = useRef<string | undefined>(undefined);

  const signIn = useCallback(async (secret: string | undefined, acting: Identity): Promise<boolean> => {
    try {
      const opened = await openSession(secret, acting);
      key.current = secret;
      storeSession(secret, acting);
      setSession(opened);
      setIdentity(acting);
      setProblem(null);
      setAsksForKey(false);
      return true;
    } catch (error) {
      if (error instanceof Unauthenticated) forgetSession();
      if (error instanceof Unauthenticated || secret !== undefined) setAsksForKey(true);
      setProblem(error instanceof Unauthenticated && secret === undefined ? null : explainError(error));
      return false;
    }
  }, []);
  useEffect(() => {
    const begin = async (): Promise<void> => {
      try {
        await redeemOneTimeKey();
      } catch (error) {
        setProblem(explainError(error));
        setAsksForKey(true);
        return;
      }
      await signIn(storedKey(), storedIdentity());
    };
    void begin();
  }, []);
  const signOut = (): void => {
    forgetSession();
    location.hash = "";
    location.reload();
  };

  if (session === null) {
    return asksForKey ? <SignIn problem={problem} signIn={(secret) => signIn(secret, NOBODY)} /> : <main class="wait">{problem ? <Problem text={problem} /> : <p role="status">Opening the memory …</p>}</main>;
  }
  return (
    <SessionContext.Provider value={session}>
      <Frame>
        <Picker identity={identity} choose={(acting) => signIn(key.current, acting)} problem={problem} signOut={session.hasKey ? signOut : undefined} />
      </Frame>
    </SessionContext.Provider>
  );
}

function SignIn({ problem, signIn }: { problem: string | null; signIn: (secret: string) => Promise<boolean> }): VNode {
  const [secret, setSecret] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (secret.trim() !== "") void signIn(secret.trim());
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>engrain</h1>
        <p>This memory asks for a key. On your own machine, <code>engrain token</code> shows it.</p>
        <label for="key">Access key or token</label>
        <input id="key" type="password" autoComplete="off" autoFocus value={secret} onInput={(event) => setSecret(event.currentTarget.value)} />
        <button type="submit" class="main">Sign in</button>
        {problem !== null && <Problem text={problem} />}
        <p class="quiet">The key stays in this tab and is forgotten when you close it.</p>
      </form>
    </main>
  );
}

function Frame({ children }: { children: ComponentChildren }): VNode {
  const place = usePlace();
  const main = useRef<HTMLElement>(null);
  const [shown, setShown] = useState<{ turn: number; notice: Notice | null }>({ turn: 0, notice: null });
  const notify = useCallback((notice: Notice | null): void => setShown(({ turn }) => ({ turn: turn + 1, notice })), []);
  const views = useViews();
  const view = views.find((candidate) => candidate.name === place.view);
  const title = place.view === "memory" ? "Memory" : (view?.title ?? "Not found");
  useEffect(() => {
    document.title = `${title} – engrain`;
    main.current?.scrollTo(0, 0);
  }, [title, place.turn]);
  const Shown = place.view === "memory" ? MemoryView : view?.show;
  return (
    <div class="frame">
      <a class="skip" href={location.hash} onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header>
        <a class="brand" href={address("search")}><img src="./page/icon.svg" alt="" width="22" height="22" />engrain</a>
        <nav aria-label="Views">
          {views.map(({ name, title }) => (
            <a key={name} href={address(name)} aria-current={name === place.view ? "page" : undefined}>{title}</a>
          ))}
        </nav>
        {children}
      </header>
      <main ref={main} tabIndex={-1}>
        {shown.notice !== null && <NoticeBar key={shown.turn} notice={shown.notice} close={() => notify(null)} />}
        <NoticeContext.Provider value={notify}>
        <Fence key={place.turn}>{Shown === undefined ? <p>There is no view of this name. <a href={address("search")}>Search</a></p> : <Shown place={place} />}</Fence>
        </NoticeContext.Provider>
      </main>
    </div>
  );
}

function useViews(): readonly View[] {
  const session = useSession();
  return VIEWS.filter((view) => session.may(view.needs) && (view.isForAll !== true || session.isUnbound));
}

/** Shows the error of a view in its place, so that the others stay usable. */
class Fence extends Component<{ children: ComponentChildren }, { problem: string | null }> {
  override state = { problem: null };

  static override getDerivedStateFromError(error: unknown): { problem: string } {
    console.error(error);
    return { problem: explainError(error) };
  }

  override render(): ComponentChildren {
    return this.state.problem === null ? this.props.children : <Problem text={`This view failed: ${this.state.problem}`} />;
  }
}
