#if PostgreSQL
// `sightline sinks try`: whether a server takes a test hit.
package import SinkKit

extension PostgreSQLSink {
    /// Connects to the first host that is there and fit, and writes the test hit and a cursor in a
    /// transaction that is rolled back. Tables and partitions that are missing are created in it.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        var failures: [ProbeStep] = []
        for host in self.url.hosts {
            var steps = await self.probe(host)
            if steps.last?.outcome != .failed {
                let probe = await self.store.probe(
                    PostgreSQLProbe(self.configuration, self.url, host), hit)
                steps += probe.steps
                if probe.hasSession { return steps }
            }
            failures += steps
        }
        return failures
    }

    /// The steps `name` and `connection`; none for the directory of a Unix socket.
    private func probe(_ host: PostgreSQLURL.Host) async -> [ProbeStep] {
        if host.isDirectory { return [] }
        return await HostProbe(
            host: host.name, port: host.port, key: "postgresql.url",
            timeout: self.configuration.connectTimeout
        ).steps()
    }
}

extension PostgreSQLURL.Host {
    /// Whether it is the directory of a Unix socket.
    var isDirectory: Bool { self.name.hasPrefix("/") }
}
#endif
