// How a recipient is forgotten: the backend is told, and answers what it did.
internal import Foundation
internal import ServiceLifecycle
internal import SightlineProtos
package import SinkKit
internal import SwiftProtobuf
internal import Synchronization

extension GRPCSink: ErasableSink {
    /// Tells the backend to forget a subject, and waits for its answer: no hit is sent meanwhile. A
    /// server that stops does not wait.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        if let rest = self.busyRest { return .last(.failed(self.place + rest)) }
        do {
            if let stream, stream.isUsable {
                return .last(try await self.erase(subject, on: stream))
            }
            guard let journal = self.journal.withLock(\.?.identity) else {
                return .last(.failed("\(self.place)no delivery has begun: ask again"))
            }
            // Refusals that come with it are dropped, and asked for again by the next delivery.
            let settled = self.settled?.journal == journal ? self.settled?.sequence : nil
            let stream = try self.connect(journal, settled: settled ?? 0)
            // The next delivery looks at the position of a Welcome of its own.
            defer { stream.close(inOrder: true) }
            return .last(try await self.erase(subject, on: stream))
        } catch {
            return .last(.failed("\(self.place)\(error)"))
        }
    }

    private func erase(_ subject: Subject, on stream: DeliverStream) async throws -> Erasure {
        do {
            let timeout = self.backend.configuration.connectTimeout
            let request = Sightline_V1_Erase.with { request in
                (request.tenant, request.subjectIds) = (subject.tenant, subject.ids)
            }
            // Not cancelled with a caller that has gone, who would have to ask again.
            let erasing = Task {
                try await cancelWhenGracefulShutdown { () -> DeliverState.Erased? in
                    guard try await stream.open(within: timeout).mayErase else { return nil }
                    return try await stream.erase(request)
                }
            }
            return self.erasure(try await erasing.value, of: subject)
        } catch let loss as BackendLoss {
            // The next delivery finds it on the stream, and tells it.
            self.stream = stream
            throw BackendFailure(loss.reason)
        } catch {
            if self.stream === stream { self.close() } else { stream.close(inOrder: false) }
            if let busy = error as? BackendBusy {
                self.busyUntil = busy.end
                throw BackendFailure("the backend is busy")
            }
            throw BackendFailure(of: error)
        }
    }

    /// - Parameter erased: nil if the backend cannot forget anybody.
    private func erasure(_ erased: DeliverState.Erased?, of subject: Subject) -> Erasure {
        guard let erased else {
            return .impossible(
                "its backend does not name SINK_CAPABILITY_ERASURE, and keeps what it was sent: "
                    + "delete it there")
        }
        if !erased.failure.isEmpty {
            // Its words must not name the subject, but they are not ours.
            return .failed(self.place + (subject.masked(erased.failure) ?? erased.failure))
        }
        guard let end = erased.retainedUntil else { return .erased(erased.count) }
        let date = Date(timeIntervalSince1970: Double(end)).formatted(.iso8601)
        return .erased(erased.count, except: "earlier versions hold the id until \(date)")
    }
}
