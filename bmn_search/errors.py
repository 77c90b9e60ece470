"""The errors that a user can mend: each holds one line that says what was wrong and what to do."""

__all__ = [
    "BmnError",
    "CoreMissingError",
    "DealError",
    "DeckError",
    "KnownDealError",
    "RecordError",
    "RulesError",
    "RunError",
    "StoreError",
]


class BmnError(ValueError):
    """Bad input. The command line prints the message alone and exits with 2."""


class DealError(BmnError):
    """A text that is no deal, or a deal that does not fit its deck or its rules."""


class DeckError(BmnError):
    """A deck that cannot be read, or a number that is the index of no deal."""


class RulesError(BmnError):
    """Rules that are unknown, contradictory, or not for this number of players."""


class KnownDealError(BmnError):
    """A file of known deals that cannot be read; the message names file and line."""


class RecordError(BmnError):
    """A record of an exhausted deck that cannot be read, or cannot be made yet."""


class StoreError(BmnError):
    """A file of finds that cannot be opened, read or written."""


class RunError(BmnError):
    """A run that does not exist, or cannot be resumed like this."""


class CoreMissingError(ImportError):
    """The compiled module is not there; nothing falls back to slow code in silence."""
