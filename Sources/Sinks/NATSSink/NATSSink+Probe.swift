#if NATS
// `sightline sinks try`: whether the stream takes a test hit.
internal import CNats
internal import Foundation
package import SinkKit

extension NATSSink {
    /// The servers of the configuration.
    package var probedHosts: [HostProbe] {
        self.configuration.servers.map { server in
            // Without a scheme it is no URL, but the library takes it.
            let text = server.contains("://") ? server : "nats://\(server)"
            let url = URLComponents(string: text)
            return HostProbe(
                host: (url?.host ?? "").trimmingCharacters(in: ["[", "]"]),
                port: url?.port ?? 4222, key: "nats.servers",
                roots: self.configuration.isTLS ? "nats.tls.roots" : nil)
        }
    }

    /// Publishes the test hit as the first batch would be, which checks the stream or makes it,
    /// and deletes it from the stream.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        let configuration = self.configuration
        let write = ProbeStep.write(
            await self.deliver(hit), to: "the stream \(configuration.stream)",
            fix: "compare nats.user and nats.password_file, or nats.credentials_file, with the "
                + "server's accounts: the user needs $JS.API.> and to publish "
                + "\(configuration.subjectPrefix).>; docs/scaling.md says how the stream has to be")
        guard write.outcome == .worked else { return [write] }
        let removal = await withCheckedContinuation { continuation in
            self.queue.async { continuation.resume(returning: self.removeProbe()) }
        }
        return [write, removal]
    }

    /// On the queue.
    private func removeProbe() -> ProbeStep {
        let note = "consumers drop it by its subject's token \(ProbeHit.mark)"
        guard let connection = self.connection,
            let sequence = connection.acks.answers.newest?.sequence
        else { return .skipped("removal", "its sequence is not known; \(note)") }
        var code = jsErrCode(0)
        let status = js_DeleteMsg(
            connection.jetStream, self.configuration.stream, sequence, nil, &code)
        guard status == NATS_OK else {
            return .skipped(
                "removal", "it stays: \(NATSError("js_DeleteMsg", status, code)); \(note)")
        }
        return .worked("removal", "it is deleted from the stream; a consumer may have had it")
    }
}
#endif
