#if NATS
// `sightline sinks try`: whether the stream takes a test hit.
internal import CNats
internal import Foundation
package import SinkKit

extension NATSSink {
    /// Connects, checks the stream (or makes it, as the first batch would), publishes the test hit,
    /// waits for its ack and deletes it from the stream.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        let steps = await self.probe()
        if steps.last?.outcome == .failed { return steps }
        return steps
            + (await withCheckedContinuation { continuation in
                self.queue.async { continuation.resume(returning: self.publishProbe(hit)) }
            })
    }

    /// The steps `name` and `connection` of the first server that accepts.
    private func probe() async -> [ProbeStep] {
        var failures: [ProbeStep] = []
        for server in self.configuration.servers {
            // Without a scheme it is no URL, but the library takes it.
            let text = server.contains("://") ? server : "nats://\(server)"
            let url = URLComponents(string: text)
            let host = (url?.host ?? "").trimmingCharacters(in: ["[", "]"])
            let steps = await HostProbe(
                host: host, port: url?.port ?? 4222, key: "nats.servers"
            ).steps()
            if steps.last?.outcome != .failed { return steps }
            failures += steps
        }
        return failures
    }

    /// On the queue.
    private func publishProbe(_ hit: HitBatch) -> [ProbeStep] {
        let connection: NATSConnection
        do {
            connection = try NATSConnection(self.configuration)
        } catch {
            return [Self.failure(of: error, self.configuration)]
        }
        self.connection = connection
        var steps = [
            ProbeStep.worked(
                "credentials",
                self.configuration.hasCredentials
                    ? "the server accepts them" : "the server asks for none")
        ]
        if self.configuration.asksForTLS {
            steps.insert(.worked("TLS", "the server's certificate is accepted"), at: 0)
        }
        let name = self.configuration.stream
        do {
            _ = try self.stream.check(connection.jetStream)
            steps.append(.worked("stream", "\(name) is there, and has what is needed"))
        } catch {
            return steps + [
                .failed(
                    "stream", "\(error)",
                    fix: "docs/scaling.md says how the stream has to be; nats.stream and "
                        + "nats.subject_prefix name it, and the user needs $JS.API.>")
            ]
        }
        steps.append(
            .write(
                self.publish(hit), to: "the stream \(name)",
                fix: "look at the stream's limits, and at the user's permission to publish "
                    + "\(self.configuration.subjectPrefix).>"))
        if steps.last?.outcome == .worked { steps.append(self.removeProbe(connection)) }
        return steps
    }

    private func removeProbe(_ connection: NATSConnection) -> ProbeStep {
        let name = self.configuration.stream
        let note = "consumers drop it by its subject's token \(ProbeHit.mark)"
        guard let sequence = connection.acks.answers.newest?.sequence else {
            return .skipped("removal", "its place is not known; \(note)")
        }
        var code = jsErrCode(0)
        let status = js_DeleteMsg(connection.jetStream, name, sequence, nil, &code)
        guard status == NATS_OK else {
            return .skipped(
                "removal", "it stays: \(NATSError("js_DeleteMsg", status, code)); \(note)")
        }
        return .worked("removal", "it is deleted from the stream; a consumer may have had it")
    }

    private static func failure(
        of error: any Error, _ configuration: NATSConfiguration
    ) -> ProbeStep {
        switch (error as? NATSError)?.status {
        case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED:
            .failed(
                "credentials", "\(error)",
                fix: "compare nats.user and nats.password_file, or nats.credentials_file, with "
                    + "the server's accounts")
        case NATS_SSL_ERROR, NATS_SECURE_CONNECTION_WANTED, NATS_SECURE_CONNECTION_REQUIRED:
            .failed(
                "TLS", "\(error)",
                fix:
                    "check tls:// in nats.servers, nats.tls.roots, and nats.tls.certificate if "
                    + "the server asks for one")
        default:
            .failed(
                "connection", "\(error)",
                fix:
                    "check that a nats-server listens at nats.servers, and the files of nats.tls"
            )
        }
    }
}

extension NATSConfiguration {
    /// Whether the server is told who we are.
    fileprivate var hasCredentials: Bool {
        !self.credentialsFile.isEmpty || !self.user.isEmpty || !self.tlsCertificate.isEmpty
    }

    /// Whether a connection without TLS fails.
    fileprivate var asksForTLS: Bool {
        !self.tlsRoots.isEmpty || self.servers.contains { $0.hasPrefix("tls://") }
    }
}
#endif
