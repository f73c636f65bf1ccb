"""A server of models on loopback: speaks as OpenAI, Cohere and text-embeddings-inference do, and fails as they do."""

import hashlib
import json
import random
import socket
import struct
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from pydantic import SecretStr

from engrain.engines.endpoint_config import EndpointConfig
from engrain.errors import EngineUnavailable

KEY = "sk-test-4f2a91"
DIMS = 12


@dataclass
class Fault:
    """What is answered once in place of the right thing."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    content: bytes = b""
    is_cut: bool = False  # the connection is reset in the middle of the answer


def numbers(*said, dims=DIMS):
    """The vector of a text, of no particular length."""
    digest = hashlib.shake_256("\0".join(said).encode()).digest(dims)
    return (np.frombuffer(digest, np.uint8) - 127.5).tolist()


def words_shared(query, document):
    asked = set(query.lower().split())
    return len(asked & set(document.lower().split())) / max(len(asked), 1)


class Models:
    """The state of the server; tests read what it was asked, and say what shall go wrong."""

    def __init__(self, url):
        self.url = url
        self.asked = []  # path, headers and JSON of every request, in order
        self.faults = []  # answered first, one each
        self.twist = lambda answer: answer  # done to every right answer
        self.key = KEY
        self.most_chars = 100_000
        self.most_texts = 2048
        self.poison = "\x00poison"
        self.reply = lambda _system, user: user  # what the chat model says
        self.ended = "stop"
        self.refused_formats = set()  # response formats that the chat model does not take
        self.may_answer = threading.Event()  # until then a chat waits
        self.may_answer.set()

    def answer(self, path, headers, body):
        """Status and JSON."""
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            quoted = f"Incorrect API key provided: {headers.get('authorization')}"
            return 401, {"error": {"message": quoted, "code": "invalid_api_key"}}
        texts = body.get("input") or body.get("texts") or body.get("documents") or []
        if any(not text or len(text) > self.most_chars or self.poison in text for text in texts):
            return 400, {"error": {"message": f"I cannot read {texts}", "type": "invalid_request_error"}}
        if len(texts) > self.most_texts:
            return 413, {"error": "batch too large", "error_type": "Validation"}
        if path == "/v1/chat/completions":
            return self._chat(body)
        speak = {"/v1/embeddings": self._openai, "/v2/embed": self._cohere}.get(path)
        if speak is None and path.endswith("/rerank"):
            speak = self._rerank
        return (404, {"error": "not found"}) if speak is None else (200, speak(body))

    def _chat(self, body):
        self.may_answer.wait(60)
        form = body.get("response_format", {}).get("type")
        said = {each["role"]: each["content"] for each in body["messages"]}
        if form in self.refused_formats:
            return 400, {"error": {"message": f"no {form} for {said}", "code": "unsupported_value"}}
        if sum(map(len, said.values())) > self.most_chars:
            return 400, {"error": {"message": f"too long: {said}", "code": "context_length_exceeded"}}
        message = {"role": "assistant", "content": self.reply(said["system"], said["user"])}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        choice = {"index": 0, "message": message, "finish_reason": self.ended}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        return 200, {**answer, "usage": usage}

    def _openai(self, body):
        dims = body.get("dimensions", DIMS)
        data = [
            {"object": "embedding", "index": at, "embedding": numbers(body["model"], text, dims=dims)}
            for at, text in enumerate(body["input"])
        ]
        random.Random(1).shuffle(data)
        return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": 1}}

    def _cohere(self, body):
        assert body["embedding_types"] == ["float"]
        dims = body.get("output_dimension", DIMS)
        rows = [numbers(body["model"], body["input_type"], text, dims=dims) for text in body["texts"]]
        return {"id": "1", "embeddings": {"float": rows}, "texts": body["texts"]}

    def _rerank(self, body):
        documents = body["texts"] if "texts" in body else body["documents"]
        scored = [(words_shared(body["query"], each), at) for at, each in enumerate(documents)]
        ranked = sorted(scored, key=lambda each: (-each[0], each[1]))
        if "texts" in body:
            return [{"index": at, "score": score} for score, at in ranked]
        results = [{"index": at, "relevance_score": score} for score, at in ranked]
        return {"id": "1", "results": results[: body["top_n"]], "meta": {}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or every answer waits 40 ms for an acknowledgement
    models: Models

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.models.asked.append((self.path, headers, body))
        if self.models.faults:
            return self._fail(self.models.faults.pop(0))
        status, answer = self.models.answer(self.path, headers, body)
        if status == 200:
            answer = self.models.twist(answer)
        return self._send(status, {"content-type": "application/json"}, json.dumps(answer).encode())

    def _fail(self, fault):
        if fault.is_cut:
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"data": [')
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        self._send(fault.status, fault.headers, fault.content)

    def _send(self, status, headers, content):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_):
        """A client that went away is what some tests are about."""


@contextmanager
def serving():
    """A server on a free port of loopback; it ends with the block."""
    handler = type("Handler", (_Handler,), {})
    server = _Server(("127.0.0.1", 0), handler)
    handler.models = models = Models(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield models
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class FakeTime:
    """A clock that runs only while somebody waits for it."""

    def __init__(self):
        self.now = 1000.0
        self.pauses = []

    def clock(self):
        return self.now

    def pause(self, seconds):
        self.pauses.append(seconds)
        self.now += seconds


def endpoint_config(url, key=KEY, *, section="embedding"):
    """Where an engine finds the server, with the names of that section's settings."""
    return EndpointConfig(
        url=url,
        key=None if key is None else SecretStr(key),
        url_setting=f"{section}.url",
        key_setting=f"{section}.key",
        needs_key=False,
    )


def message_of_failure(call, *secrets, kind=EngineUnavailable):
    """The message of a call that fails, which holds none of the secrets, nor does what caused it."""
    with pytest.raises(kind) as raised:
        call()
    error = raised.value
    while error is not None:
        assert [secret for secret in secrets if secret in str(error)] == []
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return str(raised.value)
