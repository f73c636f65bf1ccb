"""Memories of several end users, and all that a database holds of one."""


def live(memory):
    """Two users and nobody, with something in every table."""
    for user in ("ana", "bob"):
        for name in ("assistant", "billing"):
            agent = memory.agent(name, user=user, session="s")
            turn = agent.observe(f"{user} told {name} of a secret.", speaker=user)
            about = agent.entities.create(f"Carla of {user} and {name}", "person", aliases=[f"doctor of {name}"])
            known = agent.remember(f"secret of {user}", subject="user", predicate="has", source_episode_id=turn.id)
            agent.remember("a doctor", subject="Carla", predicate="is", entity_id=about.id, scope="user")
            agent.link(known.id, turn.id, "derived_from")
            rule = agent.rules.add(f"Never name the secret of {user}.")
            agent.rules.mark_harmful(rule.id, f"named the secret of {user}")
            agent.notes.save("secret", f"kept for {user}")
            agent.working.append(f"a secret of {user}")
            agent.log("chat").append([{"secret": f"in the log of {user}"}])
            agent.store("chat").put("secret", {"of": f"the item of {user}"}, index="$")
        memory.keys.create(role="writer", user=user)
    memory.agent("assistant").observe("Nobody told a secret.")
    memory.flush()


def rows_of(memory, user):
    """All that the database holds with the user's column, by table; as its superuser sees it."""
    store = memory.parts.store
    tables = "namespaces episodes speakers sessions_consolidations facts rules memory_entities memory_events entities"
    found = {}
    for table in [
        *tables.split(),
        "entity_names",
        "entity_trigrams",
        "log_sessions",
        "log_entries",
        "items",
        "item_index",
        "runs",
        "access_keys",
        "tombstones",
    ]:
        statement = f"SELECT * FROM {table} WHERE user_id = :user_id"
        found[table] = store.inspect(None, lambda tx, asked=statement: tx.ask(asked, {"user_id": user}))
    return {table: len(rows) for table, rows in found.items() if rows}
