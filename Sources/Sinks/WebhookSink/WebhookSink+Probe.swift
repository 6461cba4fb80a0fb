// `sightline sinks try`: whether the receiver takes a test hit.
package import SinkKit

extension WebhookSink {
    /// The receiver, at the addresses that may be connected to.
    package var probedHosts: [HostProbe] {
        let (url, resolver) = (self.client.url, self.client.resolver)
        return [
            HostProbe(
                host: url.host, port: url.effectivePort, key: "webhook.url or webhook.allow",
                roots: url.isSecure ? "webhook.tls.roots" : nil,
                timeout: self.configuration.connectTimeout, lookup: { try resolver.addresses() })
        ]
    }

    /// Posts the test hit, which the receiver can drop by its subject `sightline-try`.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        [
            .write(
                await self.deliver(hit), to: "the receiver",
                fix: "docs/sinks/webhook.md says what each answer means; libraries that check "
                    + "signatures also compare the clocks, and take timestamps of 5 minutes")
        ]
    }
}
