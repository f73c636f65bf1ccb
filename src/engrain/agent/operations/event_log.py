"""The audit log of a tenant: its events sealed, verified and exported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engrain.agent.maintenance import Maintenance, load_signing_key
from engrain.agent.operations.instrumentation import instrument
from engrain.agent.wiring.acts import new_act
from engrain.domain import checks

if TYPE_CHECKING:
    from engrain.domain.maintenance.seals import SealReport, Verification
    from engrain.portability.exports import ExportReport
    from engrain.verbs import words


@instrument()
class EventLog(Maintenance):
    """The verbs of a Memory about its audit log."""

    def seal_events(self, *, tenant: words.Tenant | None = None, late: words.LateEvents = False) -> SealReport:
        """Seal the events of a tenant that have no seal: whoever changes or removes one after that is found out.

        A seal is signed with the key that signs backups, and has the hash of the seal before. Keep `head`, the hash of
        the last one, elsewhere, and cutting off seals is found out as well. The job `cleanup` seals every night. With
        `late` also events that are older than the last seal, as after a restore.
        """
        from engrain.domain.maintenance.seals import SealReport
        from engrain.storage.reports import seals

        is_late, secret = checks.flag(late, name="late"), load_signing_key(self.parts).secret
        events = made = 0
        while True:
            act = new_act(self.parts, self._caller_of(None, tenant))
            last, count = self.parts.store.write(act, seals.seal_events, secret, late=is_late)
            if not count:
                return SealReport(events=events, seals=made, head=None if last is None else last.hash)
            events, made = events + count, made + 1

    def verify_events(self, *, tenant: words.Tenant | None = None, head: words.SealHash | None = None) -> Verification:
        """Verify the sealed events of a tenant: the answer names the first that was changed or removed.

        Nothing is known of events since the last seal, which are counted. `head` is a hash of a seal that was kept
        elsewhere. The payload of an event goes with its memory, or its user, that is erased: such are counted.

        Raises:
            InvalidInput: a `head` that is no text.
        """
        from engrain.storage.reports import seals

        name, secret = checks.optional_name(head, name="head"), load_signing_key(self.parts).secret
        return self.parts.store.read(self._caller_of(None, tenant), seals.verify_events, secret, head=name)

    def export_events(self, path: words.FilePath, *, tenant: words.Tenant | None = None) -> ExportReport:
        """Export the events of a tenant into a new file of JSON lines, oldest first.

        Raises:
            InvalidInput: the path is no place for a new file.
            DatabaseFull, StorageError: the file cannot be written; nothing is left of it.
        """
        from engrain.portability.exports import export_events

        target = Path(checks.path(path, name="path"))
        return export_events(self.parts.store, target, self._caller_of(None, tenant))
