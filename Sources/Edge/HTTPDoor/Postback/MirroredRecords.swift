internal import HTTP2Edge
internal import HTTPClients
internal import Synchronization

/// The records of postbacks whose answer is that of `postback.upstream`. Each has a task of its
/// own, as a journal that stalls must not hold back that answer for long.
///
/// Nothing cancels such a task. The transport of the calls owns it: at the shutdown that waits for
/// each call that has begun. So their number is bounded here, and not by that of the requests.
final class MirroredRecords: Sendable {
    /// Those that may be under way. A host and an address have parts of them, as of the requests to
    /// `postback.upstream`.
    static let bound = 1000
    /// How long an answer waits for its record. Nearly always that is there first, and nothing that
    /// was answered is lost with the process; Android's SDK waits five seconds in all.
    static let patience = Duration.seconds(1)

    private let places = Mutex(UpstreamPlaces(MirroredRecords.bound))

    /// Begins the record of a request, which may end before it.
    ///
    /// - Returns: a stream that ends with the record; nil if there is no place for it: then nothing
    ///   is recorded.
    func begin(
        of request: DoorRequest, _ record: @escaping @Sendable () async -> Void
    ) -> AsyncStream<Never>? {
        let (host, address) = (Array(request.host.utf8), RemotePeer.key(of: request.peer.address))
        guard self.places.withLock({ $0.take(host: host, address: address) }) else { return nil }
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        Task {
            await record()
            // First, as the same client may send again as soon as it has its answer.
            self.places.withLock { $0.giveBack(host: host, address: address) }
            end.finish()
        }
        return ended
    }

    /// Waits for a record as long as an answer may.
    static func wait(for record: AsyncStream<Never>, clock: any Clock<Duration>) async {
        // The record goes on beyond the limit.
        try? await withTimeLimit(Self.patience, clock: clock) { for await _ in record {} }
    }
}
