"""A TCP proxy on loopback that counts how often a client waits for PostgreSQL."""

from psycopg.conninfo import conninfo_to_dict

from tests.support.cutting_proxy import CuttingProxy

_READY = b"Z"  # the message ReadyForQuery, by which the server ends its answer to a Sync or a simple query


class CountingProxy(CuttingProxy):
    """Between clients and the server at a URL, whose answers it counts."""

    def __init__(self, url):
        self._parts = conninfo_to_dict(url)
        super().__init__(int(self._parts["port"]))
        self.round_trips = 0

    @property
    def url(self):
        """The database's URL through this proxy."""
        named = {**self._parts, "port": self.port}
        return "postgresql://{user}:{password}@127.0.0.1:{port}/{dbname}?sslmode=disable&gssencmode=disable".format(
            **named
        )

    def note_answer(self, answered):
        """Count the ends of answers among whole messages; the beginning of another is kept."""
        while len(answered) >= 5 and len(answered) > (size := int.from_bytes(answered[1:5], "big")):
            self.round_trips += answered[:1] == _READY
            answered = answered[size + 1 :]
        return answered
