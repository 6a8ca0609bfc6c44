#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A container runtime of Kubernetes (CRI, runtime.v1.RuntimeService) with one pod, for tests.

    cri_runtime.py SOCKET UID CONTAINER [--answer ANSWER]

The pod shop/web-0 has this UID and one container, nginx. Answers:

    names      both lists
    hang       none
    refuse     a status of gRPC
    garbage    bytes that are no message
    large      more than 16 MiB
"""
import argparse
import sys
import time
from concurrent import futures

SERVICE = "runtime.v1.RuntimeService"
SANDBOX = "5a" * 32


def field(number, content):
    """A field of protobuf with bytes."""
    content = content.encode() if isinstance(content, str) else content
    size, length = len(content), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("socket")
    parser.add_argument("uid")
    parser.add_argument("container")
    parser.add_argument("--answer", default="names")
    options = parser.parse_args()
    try:
        import grpc
    except ImportError:
        sys.exit(77)

    metadata = field(1, "web-0") + field(2, options.uid) + field(3, "shop")
    pods = field(1, field(1, SANDBOX) + field(2, metadata) + field(5, field(1, "app") + field(2, "web")))
    containers = field(1, field(1, options.container) + field(2, SANDBOX) + field(3, field(1, "nginx")))

    def answer(message):
        def call(request, context):
            assert request == b"", request
            if options.answer == "hang":
                time.sleep(1000)
            if options.answer == "refuse":
                context.abort(grpc.StatusCode.PERMISSION_DENIED, "not for you")
            if options.answer == "garbage":
                return b"\xff\xff\xff"
            return message + field(15, b"x" * (17 << 20)) if options.answer == "large" else message
        return grpc.unary_unary_rpc_method_handler(call)

    handler = grpc.method_handlers_generic_handler(
        SERVICE, {"ListPodSandbox": answer(pods), "ListContainers": answer(containers)})
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=(handler,))
    server.add_insecure_port(f"unix:{options.socket}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
