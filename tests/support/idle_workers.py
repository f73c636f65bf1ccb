"""Workers of a memory that leave their work to the test."""


class ByHand:
    """Workers that do nothing of themselves."""

    def __init__(self):
        self.asked = []

    def run_after(self, seconds, work):
        assert 0 < seconds <= 1
        self.asked.append(work)
