import subprocess
import sys

import psycopg
import psycopg_pool
import pytest

from engrain import errors
from engrain.storage.postgres.driver_errors import translate_error, translate_errors

LOCATION = "postgresql://ana@db.example:5432/memories"
# What every SQLSTATE with a leaf of its own becomes; the two characters of a class stand for all of it.
LEAVES = {
    "08": errors.DatabaseUnreachable,
    "23": errors.IntegrityViolated,
    "25006": errors.DatabaseReadOnly,
    "25P03": errors.DatabaseUnreachable,
    "25P04": errors.DatabaseUnreachable,
    "28": errors.DatabaseUnreachable,
    "3D": errors.DatabaseUnreachable,
    "40001": errors.DatabaseBusy,
    "40P01": errors.DatabaseBusy,
    "42501": errors.DatabaseReadOnly,
    "53100": errors.DatabaseFull,
    "53300": errors.DatabaseBusy,
    "55006": errors.DatabaseBusy,
    "55P03": errors.DatabaseBusy,
    "57P01": errors.DatabaseUnreachable,
    "57P02": errors.DatabaseUnreachable,
    "57P03": errors.DatabaseUnreachable,
    "57P04": errors.DatabaseUnreachable,
    "57P05": errors.DatabaseUnreachable,
    "XX001": errors.DatabaseDamaged,
    "XX002": errors.DatabaseDamaged,
}
# What the driver raises of itself, without the server.
OF_THE_DRIVER = {
    psycopg.OperationalError: errors.DatabaseUnreachable,
    psycopg.errors.ConnectionTimeout: errors.DatabaseUnreachable,
    psycopg.IntegrityError: errors.IntegrityViolated,
    psycopg_pool.PoolClosed: errors.MemoryClosed,
    psycopg_pool.PoolTimeout: errors.DatabaseBusy,
    psycopg_pool.TooManyRequests: errors.DatabaseBusy,
}


def family(parent):
    """The driver's classes under one, and itself."""
    yield parent
    for child in parent.__subclasses__():
        yield from family(child)


DRIVER_ERRORS = sorted({each for each in family(psycopg.Error) if each.__module__.startswith("psycopg")}, key=repr)


def expected(driver_error):
    state = driver_error.sqlstate or ""
    if not state:
        return OF_THE_DRIVER.get(driver_error, errors.StorageError)
    return LEAVES.get(state) or LEAVES.get(state[:2]) or errors.StorageError


def test_the_drivers_errors_are_seen():
    """Otherwise what follows would pass on nothing."""
    states = {each.sqlstate for each in DRIVER_ERRORS}
    assert len(states) > 200
    assert {state for state in LEAVES if len(state) == 5} <= states
    assert {state for state in LEAVES if len(state) == 2} <= {state[:2] for state in states if state}
    assert set(OF_THE_DRIVER) <= set(DRIVER_ERRORS)


def test_every_error_of_the_driver_is_one_of_ours_and_names_the_database(subtests):
    for driver_error in DRIVER_ERRORS:
        with subtests.test(driver_error=driver_error.__name__):
            said = translate_error(driver_error("what it says"), LOCATION)
            assert type(said) is expected(driver_error)
            assert LOCATION in str(said)
            assert type(said) is errors.MemoryClosed or "what it says" in str(said)


def test_the_cause_is_kept(subtests):
    for driver_error in DRIVER_ERRORS:
        cause = driver_error("what it says")
        with subtests.test(driver_error=driver_error.__name__):
            with pytest.raises(errors.EngrainError) as raised, translate_errors(LOCATION):
                raise cause
            assert raised.value.__cause__ is cause


@pytest.mark.parametrize(
    "said", ["sorry, too many clients already", "remaining connection slots are reserved", "too many connections for x"]
)
def test_a_server_that_has_no_place_for_one_more_is_busy(said):
    """A refused log-in carries no SQLSTATE."""
    assert type(translate_error(psycopg.OperationalError(f"FATAL:  {said}"), LOCATION)) is errors.DatabaseBusy


def test_an_error_of_ours_and_of_python_pass_as_they_are():
    for error in (errors.InvalidInput("no"), ValueError("no"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as raised, translate_errors(LOCATION):
            raise error
        assert raised.value is error


def test_several_lines_become_one():
    said = translate_error(psycopg.OperationalError("connection failed:\n\tis it running?"), LOCATION)
    assert "connection failed: is it running?" in str(said)


@pytest.mark.parametrize("missing", ["psycopg", "psycopg_pool", "pgvector"])
def test_without_the_driver_it_is_said_how_to_get_it(missing):
    script = f"""
import sys
sys.modules[{missing!r}] = None
from engrain.errors import InvalidInput
try:
    import engrain.storage.postgres.connections
except InvalidInput as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert 'pip install "engrain[postgres]"' in done.stdout
    assert missing in done.stdout
