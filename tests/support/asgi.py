"""An ASGI application on a loopback port, served by uvicorn in a thread of this process."""

import contextlib
import threading

import uvicorn

from engrain.interfaces.serving import bind


@contextlib.contextmanager
def serving(app):
    """The address of an application, until the block ends."""
    with bind("127.0.0.1", 0) as listener:
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
