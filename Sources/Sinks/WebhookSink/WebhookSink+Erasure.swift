// Tells the receiver of a subject that was forgotten.
internal import Foundation
package import SinkKit

extension WebhookSink {
    /// Posts an event of the type `Subject.forgottenType`, signed as hits are. Its id is the same
    /// each time that a subject is forgotten.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        .last(await self.tell(subject))
    }

    private func tell(_ subject: Subject) async -> Erasure {
        do {
            let secrets = try WebhookSecrets(file: self.configuration.secretFile)
            let names = [subject.tenant] + subject.ids
            let id = WebhookSecrets.id(of: Data(names.joined(separator: "\n").utf8))
            let now = self.clock.seconds()
            let body = try self.events.body(forgetting: subject, id: id, time: now)
            let response = try await self.post(body, secrets)
            switch response.answer(ids: [id], now: now) {
            case .taken(let refused) where refused.isEmpty: return .told
            case .taken(let refused): return .failed(refused.values.joined(separator: "; "))
            case .refused(let reason), .tooLarge(let reason), .tooLong(let reason),
                .gone(let reason), .unavailable(let reason, _):
                return .failed(reason)
            }
        } catch {
            return .failed("\(error)")
        }
    }
}
