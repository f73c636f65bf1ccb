import pytest

from engrain.engines import ServiceAddress, llm
from tests.support.local_llm import MODEL, serving


@pytest.fixture(scope="session")
def url():
    """A small model's server, one for all tests; without its packages they fail, and are no part of `make test`."""
    with pytest.MonkeyPatch.context() as patch, serving() as address:
        for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            patch.delenv(variable, raising=False)
        yield address


@pytest.fixture
def small(url):
    return llm(f"openai:{MODEL}", address=ServiceAddress(url=url))
