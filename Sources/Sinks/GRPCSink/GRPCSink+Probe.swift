// `sightline sinks try`: whether a backend takes a test hit.
package import SinkKit

extension GRPCSink {
    /// The backend.
    package nonisolated var probedHosts: [HostProbe] {
        let configuration = self.backend.configuration
        guard let target = GRPCTarget(configuration.target) else { return [] }
        return [
            HostProbe(
                host: target.host, port: target.port, key: "grpc.target",
                roots: configuration.isEncrypted ? "grpc.tls.roots" : nil,
                timeout: configuration.connectTimeout)
        ]
    }

    /// Says Hello for a journal of the probe's own, and sends the test hit. A backend gives nothing
    /// back: it stays there, unless the backend drops it.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        let write = ProbeStep.write(
            await self.deliver(hit, quotes: true), to: "the backend",
            fix: "compare grpc.tls.mode, grpc.key_file and grpc.tls.certificate with what the "
                + "backend expects; sightline-conformance backend says what else it has to do")
        let rhythm = self.stream.flatMap { CommitRhythm(of: $0) }
        self.stream?.close(inOrder: true)
        guard write.outcome == .worked else { return [write] }
        let removal = ProbeStep.skipped(
            "removal",
            "the protocol takes no hit back: the backend drops it by its subject \(ProbeHit.mark)")
        return [write] + (rhythm.map { [.worked("rhythm", $0.sentence)] } ?? []) + [removal]
    }
}
