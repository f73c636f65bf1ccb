import errno
import os
import shutil

import apsw
import pytest

from engrain import errors
from engrain.storage.sqlite.driver_errors import ErrorTranslation, translate_error

LEAVES = {
    apsw.BusyError: errors.DatabaseBusy,
    apsw.LockedError: errors.DatabaseBusy,
    apsw.ProtocolError: errors.DatabaseBusy,
    apsw.FullError: errors.DatabaseFull,
    apsw.ReadOnlyError: errors.DatabaseReadOnly,
    apsw.CantOpenError: errors.DatabaseReadOnly,
    apsw.PermissionsError: errors.DatabaseReadOnly,
    apsw.AuthError: errors.DatabaseReadOnly,
    apsw.NotADBError: errors.NotAnEngrainFile,
    apsw.CorruptError: errors.DatabaseDamaged,
    apsw.FormatError: errors.DatabaseDamaged,
    apsw.ConstraintError: errors.IntegrityViolated,
    apsw.ConnectionClosedError: errors.MemoryClosed,
    apsw.CursorClosedError: errors.MemoryClosed,
}
DRIVER_ERRORS = [each for each in vars(apsw).values() if isinstance(each, type) and issubclass(each, Exception)]
NO_ROOM = [errno.ENOSPC, errno.EDQUOT, errno.EFBIG]
NO_ACCESS = [errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT]


def test_every_error_of_the_driver_is_one_of_ours_and_names_the_file(subtests):
    for driver_error in DRIVER_ERRORS:
        with subtests.test(driver_error=driver_error.__name__):
            said = translate_error(driver_error("what it says"), "some/agent.db")
            assert type(said) is LEAVES.get(driver_error, errors.StorageError)
            assert "some/agent.db" in str(said)
            assert type(said) is errors.MemoryClosed or "what it says" in str(said)


def test_the_cause_is_kept(subtests):
    for driver_error in DRIVER_ERRORS:
        cause = driver_error("what it says")
        with subtests.test(driver_error=driver_error.__name__):
            with pytest.raises(errors.EngrainError) as raised, ErrorTranslation("agent.db"):
                raise cause
            assert raised.value.__cause__ is cause


@pytest.mark.parametrize(
    ("number", "leaf"),
    [(number, errors.DatabaseFull) for number in NO_ROOM] + [(number, errors.DatabaseReadOnly) for number in NO_ACCESS],
    ids=lambda each: errno.errorcode.get(each, "") if isinstance(each, int) else each.__name__,
)
def test_an_error_of_the_file_system_is_one_of_ours(number, leaf):
    with pytest.raises(leaf, match=os.strerror(number)) as raised, ErrorTranslation("agent.db"):
        raise OSError(number, os.strerror(number))
    assert raised.value.__cause__.errno == number


def test_an_error_of_ours_and_of_python_pass_as_they_are():
    for error in (errors.InvalidInput("no"), ValueError("no"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as raised, ErrorTranslation("agent.db"):
            raise error
        assert raised.value is error


def test_an_error_of_input_or_output_asks_the_connection_why():
    connection = apsw.Connection(":memory:")
    with pytest.raises(errors.StorageError) as raised, ErrorTranslation("agent.db", connection):
        raise apsw.IOError("disk I/O error")
    assert type(raised.value) is errors.StorageError


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="needs a file system that has no block to give")
def test_an_error_of_input_or_output_on_a_full_disk_says_that_it_is_full():
    """SQLite keeps no errno where its shared memory cannot grow; /proc has no room at any time."""
    assert shutil.disk_usage("/proc").free == 0
    with pytest.raises(errors.DatabaseFull, match="free some space"), ErrorTranslation("/proc/agent.db"):
        raise apsw.IOError("disk I/O error")
