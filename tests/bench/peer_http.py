"""A FastAPI server with one route that runs a tool of its own: echo. Usage: peer_http.py; prints its port."""

import socket

import uvicorn
from fastapi import Body, FastAPI

app = FastAPI()


@app.post("/echo")
async def echo(arguments: dict = Body()):
    return {"content": [{"type": "text", "text": f"Echo: {arguments['message']}"}]}


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
uvicorn.run(app, fd=listener.fileno(), log_level="error")
