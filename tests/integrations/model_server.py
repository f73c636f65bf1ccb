"""A server in the place of OpenAI's and Anthropic's, which answers requests in turn."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextlib.contextmanager
def serve(replies):
    """Serve the replies in their order, and give the URL and the requests as they come."""
    left, asked = list(replies), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps(left.pop(0)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()
        thread.join()


def anthropic(*content):
    """A message of Anthropic's API: texts, and calls of the memory tool as mappings."""
    blocks = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "tool_use", "id": f"toolu_{number}", "name": "memory", "input": part}
        for number, part in enumerate(content)
    ]
    stop = "end_turn" if isinstance(content[-1], str) else "tool_use"
    usage = {"input_tokens": 1, "output_tokens": 1}
    about = {"id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None, "usage": usage}
    return {**about, "content": blocks, "stop_reason": stop}


def openai(*output):
    """A response of OpenAI's Responses API: texts, and calls of functions as pairs of name and arguments."""
    items = [
        {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": part, "annotations": []}],
        }
        if isinstance(part, str)
        else {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": part[0],
            "arguments": json.dumps(part[1]),
            "status": "completed",
        }
        for number, part in enumerate(output)
    ]
    none = {"error": None, "incomplete_details": None, "instructions": None, "metadata": {}, "temperature": 1.0}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    about = {"id": "resp", "object": "response", "created_at": 0, "model": "m", "status": "completed", "usage": usage}
    more = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "top_p": 1.0}
    return {**about, **none, **more, "output": items}


def openai_chat(text):
    """A completion of OpenAI's Chat Completions API."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text, "refusal": None}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
