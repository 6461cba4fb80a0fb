// `sightline sinks try`: whether the receiver takes a test hit.
package import SinkKit

extension WebhookSink {
    /// Looks the host up, connects, and posts the test hit, which the receiver can drop by its
    /// subject `sightline-try`.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        let url = self.client.url
        let addresses: [NetworkAddress]
        do {
            addresses = try self.client.resolver.addresses()
        } catch {
            return [
                .failed(
                    "name", "\(error)",
                    fix: "check the host in webhook.url, and list a receiver that is meant to be "
                        + "in a private network in webhook.allow")
            ]
        }
        let probe = HostProbe(
            host: url.host, port: url.effectivePort, key: "webhook.url",
            timeout: self.configuration.connectTimeout)
        var steps: [ProbeStep] = [.named(url.host, addresses)]
        steps.append(await probe.connection(to: addresses))
        if steps.last?.outcome == .failed { return steps }
        do {
            let secrets = try WebhookSecrets(file: self.configuration.secretFile)
            let (ids, body) = try self.encoded(hit)
            let response = try await self.post(body, secrets)
            if url.isSecure {
                steps.append(.worked("TLS", "the certificate of \(url.host) is accepted"))
            }
            return steps + Self.steps(of: response, ids: ids, now: self.clock.seconds())
        } catch let failure as WebhookFailure where failure.isOfTLS {
            steps.append(
                .failed(
                    "TLS", "\(url.host): \(failure)",
                    fix: "the certificate has to be valid for \(url.host) and of an authority in "
                        + "the system's CAs, or in webhook.tls.roots"))
        } catch {
            steps.append(
                .failed(
                    "write", "\(error)",
                    fix: "check that the receiver answers POST requests at webhook.url"))
        }
        return steps
    }

    /// What an answer says of the secret, and of the write.
    static func steps(of response: WebhookResponse, ids: Set<String>, now: Int64) -> [ProbeStep] {
        if response.status == 401 || response.status == 403 {
            return [
                .failed(
                    "credentials", "the receiver answered \(response.status) to the signature",
                    fix: "compare webhook.secret_file with the receiver's secret, and the clocks: "
                        + "libraries take timestamps of the last 5 minutes")
            ]
        }
        let answered = "the receiver answered \(response.status)"
        switch response.answer(ids: ids, now: now) {
        case .taken(let refused):
            if let reason = refused.values.first {
                return [
                    .worked("credentials", "\(answered) to the signature"),
                    .failed(
                        "write", "the test hit is refused: \(reason)",
                        fix: "nothing, if the receiver is meant to refuse hits with the subject "
                            + ProbeHit.mark),
                ]
            }
            return [
                .worked("credentials", "\(answered) to the signature"),
                .worked("write", "\(answered), so it has the test hit"),
            ]
        case .refused(let reason), .tooLarge(let reason), .unavailable(let reason, _),
            .gone(let reason):
            return [
                .failed(
                    "write", reason,
                    fix: "docs/sinks/webhook.md says what each answer means to the sink")
            ]
        }
    }
}
