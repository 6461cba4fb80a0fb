// Tells the receiver of a subject that was forgotten.
internal import Crypto
internal import Foundation
internal import SinkConfiguration
package import TrackingSinks

extension WebhookSink {
    /// Posts an event of the type `sightline.v1.subject.forgotten`, signed as hits are. The id is
    /// the same each time a subject is forgotten.
    package func erase(_ subject: Subject) async -> Erasure {
        do {
            let secrets = try WebhookSecrets(file: self.configuration.secretFile)
            let names = [subject.tenant] + subject.ids
            let digest = SHA256.hash(data: Data(names.joined(separator: "\n").utf8))
            let id = digest.prefix(16).map { String(format: "%02x", $0) }.joined()
            let now = self.clock.seconds()
            let body = try self.events.body(
                forgetting: subject, id: id, time: now * 1_000_000)
            let response = try await self.post(body, secrets)
            switch response.answer(ids: [id], now: now) {
            case .taken(let refused) where refused.isEmpty: return .told
            case .taken(let refused): return .failed(refused.values.joined(separator: "; "))
            case .refused(let reason), .tooLarge(let reason), .gone(let reason),
                .unavailable(let reason, _):
                return .failed(reason)
            }
        } catch {
            return .failed("\(error)")
        }
    }
}
