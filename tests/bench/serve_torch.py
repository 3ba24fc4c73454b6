#!/usr/bin/python3
"""The peer of the serve row: the network of the classifier in PyTorch behind Python's own HTTP server, as PyTorch's tutorials serve it.

    serve_torch.py        prints its port, then answers POST {"instances": [[784 numbers], …]} until it is ended
"""
import http.server
import json

import torch

torch.set_num_threads(1)
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, 32, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(32, 64, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(7 * 7 * 64, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10), torch.nn.Softmax(1))
network.eval()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # send head and body in one write: a second write would wait for the acknowledgement of the first

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with torch.no_grad():
            predictions = network(torch.tensor(body["instances"]).reshape(-1, 1, 28, 28)).tolist()
        answer = json.dumps({"predictions": predictions}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
