# SPDX-License-Identifier: Apache-2.0
"""perftape-serve answers the requests of KubeSkoop's users: packets that two pods lost, retransmitted and
reset are in the answers for these pods, exactly."""

import json
import pathlib

import harness
import served
from cgroups import PYTHON

PACKETS = pathlib.Path(__file__).with_name("packets.py")
EVENTS = ("PacketLoss", "TCPRetrans", "TCPReset")


class KubeSkoopTest(served.ServeTest):
    def packets(self, group, what, count):
        """Makes them in a network namespace of their own, as pods have. Returns what the kernel counted."""
        status, out, err = harness.run("unshare", "--net", PYTHON, PACKETS, group, what, count)
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def counts(self, service, pod):
        """{event: packets} of the pod since the last call."""
        counts = {}
        for event in EVENTS:
            answer = service.request(f"/flamegraph/collapsed?scope=pod&namespace=shop&pod={pod}&event={event}&reset=true")
            self.assertEqual(answer.status, 200, answer)
            counts[event] = sum(int(line.split()[-1]) for line in answer.body.splitlines())
        return counts

    def test_the_packets_of_each_pod_are_counted(self):
        web, database = self.pod_groups()
        service = self.serve("-e", "packetloss,tcpretrans,tcpreset", "--window", "300ms", under=self.pods_under())
        pods = {"web-0": (web, 50), "db-0": (database, 30)}
        counted = {pod: self.packets(group, "loss", count) for pod, (group, count) in pods.items()}
        for pod, (_, count) in pods.items():
            self.assertEqual(counted[pod]["Udp:NoPorts"], count)
            self.assertEqual(self.counts(service, pod), {"PacketLoss": count, "TCPRetrans": 0, "TCPReset": 0})

        counted = {pod: self.packets(group, "retransmission", count) for pod, (group, count) in pods.items()}
        for pod, (_, count) in pods.items():
            # A process that does not get a CPU for 200 ms: a timer sends again, in any process.
            fast = counted[pod]["Tcp:RetransSegs"] - counted[pod]["TcpExt:TCPTimeouts"]
            self.assertGreaterEqual(fast, count // 2, counted)
            counts = self.counts(service, pod)
            self.assertEqual((counts["TCPRetrans"], counts["TCPReset"]), (fast, 0))
            # The end of a connection may also purge a packet.
            self.assertGreaterEqual(counts["PacketLoss"], count)

        counted = {pod: self.packets(group, "reset", count) for pod, (group, count) in pods.items()}
        for pod, (_, count) in pods.items():
            self.assertEqual(counted[pod]["Tcp:OutRsts"], count)
            # Each refused connection has a lost packet, and a reset that is sent and received.
            self.assertEqual(self.counts(service, pod), {"PacketLoss": count, "TCPRetrans": 0, "TCPReset": 2 * count})
            self.assertEqual(self.counts(service, pod), dict.fromkeys(EVENTS, 0))

        stacks = service.folded(scope="node", event="TCPReset")
        self.assertTrue(all("tcp_" in stack for stack in stacks), stacks)
        self.assertGreaterEqual(sum(stacks.values()), 160)


if __name__ == "__main__":
    harness.require("perf", "ip", "unshare")
    harness.main()
