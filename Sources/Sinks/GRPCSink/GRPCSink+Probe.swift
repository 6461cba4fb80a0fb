// `sightline sinks try`: whether a backend takes a test hit.
internal import GRPCCore
package import SinkKit

extension GRPCSink {
    /// Connects, says Hello for a journal of the probe's own, and sends the test hit over the same
    /// stream. A backend gives nothing back: it stays there, unless the backend drops it.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        let configuration = self.backend.configuration
        var steps: [ProbeStep] = []
        if let target = GRPCTarget(configuration.target) {
            steps = await HostProbe(
                host: target.host, port: target.port, key: "grpc.target",
                timeout: configuration.connectTimeout
            ).steps()
            if steps.last?.outcome == .failed { return steps }
        }
        do {
            let (stream, welcome) = try await self.openStream(for: hit)
            steps += Self.steps(of: welcome, durable: stream.durable, configuration)
        } catch let failure as BackendFailure {
            return steps + [Self.step(of: failure, configuration)]
        } catch {
            return steps + [
                .failed("Welcome", "\(error)", fix: "docs/sinks/grpc.md has the protocol")
            ]
        }
        steps.append(
            .write(
                await self.deliver(hit), to: "the backend",
                fix: "let the backend answer with an Ack once it has stored the hit; sightline "
                    + "sinks check says more"))
        self.stream?.close(inOrder: true)
        guard steps.last?.outcome == .worked else { return steps }
        return steps + [
            .skipped(
                "removal",
                "the protocol takes no hit back: the backend drops it by its subject "
                    + ProbeHit.mark)
        ]
    }

    /// The steps that a Welcome proves.
    static func steps(
        of welcome: DeliverState.Welcome, durable: HitPosition?,
        _ configuration: GRPCConfiguration
    ) -> [ProbeStep] {
        var steps: [ProbeStep] = []
        if configuration.isEncrypted {
            steps.append(.worked("TLS", "the certificate of the backend is accepted"))
        }
        let hasKey = !configuration.keyFile.isEmpty
        steps.append(
            .worked(
                "credentials",
                hasKey ? "the backend accepts the key" : "the backend asks for no key"))
        let place = durable.map { "is at \($0)" } ?? "has nothing"
        let refusals = welcome.mayRefuse ? "it may refuse hits" : "it refuses none"
        steps.append(
            .worked(
                "Welcome",
                "version \(DeliverState.version); of the probe's journal it \(place), and "
                    + "\(refusals)"))
        return steps
    }

    /// Why there is no Welcome.
    static func step(
        of failure: BackendFailure, _ configuration: GRPCConfiguration
    ) -> ProbeStep {
        let text = failure.description
        switch failure.code {
        case .unauthenticated, .permissionDenied:
            return .failed(
                "credentials", text,
                fix: "compare grpc.key_file and grpc.tls.certificate with what the backend "
                    + "expects")
        case .unimplemented:
            return .failed(
                "Welcome", text,
                fix: "something else listens at grpc.target, or the backend has not registered "
                    + "sightline.v1.SinkService")
        case .unavailable where configuration.isEncrypted:
            return .failed(
                "TLS", text,
                fix: "the backend has to take TLS, with a certificate of an authority in "
                    + "grpc.tls.roots, or in the system's, that is valid for the host in "
                    + "grpc.target")
        case .unavailable:
            return .failed(
                "Welcome", text,
                fix: "check that a gRPC server listens there; one that takes TLS alone needs "
                    + "grpc.tls.mode tls")
        default:
            return .failed(
                "Welcome", text,
                fix: "the backend has to answer Hello with a Welcome: sightline sinks check says "
                    + "more")
        }
    }
}
