#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A receiver of OTLP profiles or of Pyroscope's pushes that answers as it is told, for the tests of pushes.

    push_receiver.py DIR [--grpc] [--cert FILE --key FILE] [--answers LIST]

Writes the port to DIR/port, and of each request DIR/N.headers (JSON) and DIR/N.body, expanded.
LIST has an answer for each request, separated by commas; the last one is for all that follow:

    200            taken; with gRPC, 0
    503            another status; with gRPC, of gRPC
    503/7          with Retry-After: 7; with gRPC, RetryInfo of 7 s. A date: 503/date:2
    partial/3      taken, but 3 profiles were rejected
    hang           no answer
    die            the connection is closed
"""
import argparse
import email.utils
import gzip
import http.server
import json
import os
import pathlib
import ssl
import threading
import time
from concurrent import futures

SERVICE = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
PATH = "/v1development/profiles"


def message(number, content):
    """A field of protobuf with a short content, or with a number."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content)]) + content


def partial(rejected):
    return message(1, message(1, rejected) + message(2, b"not all"))


def retry_info(seconds):
    info = message(1, message(1, seconds))
    any_info = message(1, b"type.googleapis.com/google.rpc.RetryInfo") + message(2, info)
    return message(1, 8) + message(3, any_info)


class Receiver:
    def __init__(self, folder, answers):
        self.folder, self.answers, self.count, self.lock = folder, answers, 0, threading.Lock()

    def keep(self, headers, body):
        """Keeps a request, and returns (what to answer, its parameter)."""
        with self.lock:
            self.count += 1
            answer, _, parameter = self.answers[min(self.count, len(self.answers)) - 1].partition("/")
            (self.folder / f"{self.count}.headers").write_text(json.dumps(headers | {"answer": answer}))
            part = self.folder / "part"
            part.write_bytes(body)
            part.rename(self.folder / f"{self.count}.body")
            return answer, parameter

    def tell(self, port):
        (self.folder / "part").write_text(str(port))
        (self.folder / "part").rename(self.folder / "port")


def serve_http(receiver, options):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {key.lower(): value for key, value in self.headers.items()} | {"path": self.path}
            if headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            answer, parameter = receiver.keep(headers, body)
            if answer == "hang":
                time.sleep(1000)
            if answer == "die":
                self.close_connection = True
                return
            content = partial(int(parameter)) if answer == "partial" else b""
            self.send_response(200 if answer == "partial" else int(answer))
            if parameter.startswith("date:"):
                date = time.time() + int(parameter.partition(":")[2])
                self.send_header("Retry-After", email.utils.formatdate(date, usegmt=True))
            elif parameter and answer != "partial":
                self.send_header("Retry-After", parameter)
            self.send_header("Content-Type", headers["content-type"])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    receiver.tell(server.server_address[1])
    server.serve_forever()


def serve_grpc(receiver, options):
    import grpc

    def export(body, context):
        headers = {key: str(value) for key, value in context.invocation_metadata()}
        answer, parameter = receiver.keep(headers | {"path": SERVICE}, body)
        if answer == "hang":
            time.sleep(1000)
        if answer == "partial":
            return partial(int(parameter))
        if answer != "0":
            if parameter:
                context.set_trailing_metadata((("grpc-status-details-bin", retry_info(int(parameter))),))
            code = next(code for code in grpc.StatusCode if code.value[0] == int(answer))
            context.abort(code, "as it was told")
        return b""

    handler = grpc.method_handlers_generic_handler(
        SERVICE[1:].rpartition("/")[0], {"Export": grpc.unary_unary_rpc_method_handler(export)})
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=(handler,))
    if options.cert:
        pair = (pathlib.Path(options.key).read_bytes(), pathlib.Path(options.cert).read_bytes())
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    receiver.tell(port)
    server.wait_for_termination()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--grpc", action="store_true")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--answers", default="")
    options = parser.parse_args()
    usual = "0" if options.grpc else "200"
    receiver = Receiver(options.folder, (options.answers or usual).split(","))
    (serve_grpc if options.grpc else serve_http)(receiver, options)


if __name__ == "__main__":
    try:
        main()
    except ImportError as error:
        print(error)
        os._exit(77)
