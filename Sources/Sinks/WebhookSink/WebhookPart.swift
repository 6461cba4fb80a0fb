// How a batch is split into requests, and how far it has come.

/// Which events go into a request.
enum WebhookPart {
    /// The bytes of a body of these events: brackets, and commas between them.
    static func bytes(of events: ArraySlice<WebhookEvents.Event>) -> Int {
        events.reduce(1) { $0 + $1.range.count + 1 } + (events.isEmpty ? 1 : 0)
    }

    /// The first events that fit into both limits; one at least.
    ///
    /// - Parameter blamed: tenants whose events share no request with those of others.
    static func first(
        of events: ArraySlice<WebhookEvents.Event>, hits: Int, bytes: Int,
        apart blamed: Set<[UInt8]> = []
    ) -> Range<Int> {
        guard let tenant = events.first?.tenant else {
            return events.startIndex..<events.startIndex
        }
        var end = events.startIndex
        var size = 1
        for event in events.prefix(max(1, hits)) {
            size += event.range.count + 1
            if end > events.startIndex, size > bytes { break }
            if !blamed.isEmpty, event.tenant != tenant,
                blamed.contains(tenant) || blamed.contains(event.tenant)
            {
                break
            }
            end += 1
        }
        return events.startIndex..<end
    }
}

/// How far a batch has come. It is kept between the tries of the batch, so that what the receiver
/// has taken is not sent again.
struct WebhookProgress: Equatable {
    /// The batch.
    let batch: Batch
    /// The number of events that are settled, from the first on.
    private(set) var settled = 0
    /// Why hits are refused, by position.
    private(set) var rejected: [Int: String]
    /// The most hits of the next request: halved where the receiver refuses a whole body, until the
    /// hit that it means is alone.
    private(set) var maxHits: Int
    /// The same, halved where an answer is longer than what is read of one.
    private(set) var maxAnswered = Int.max

    /// What tells one batch from another.
    struct Batch: Equatable {
        let journal: String
        let sequence: Int64
        let hitCount: Int
        let digest: String
    }

    init(_ batch: Batch, rejected: [Int: String], maxHits: Int) {
        self.batch = batch
        self.rejected = rejected
        self.maxHits = maxHits
    }

    /// Takes down that a request's hits are settled.
    mutating func settle(_ count: Int, refused: [Int: String], limit: Int) {
        self.settled += count
        self.rejected.merge(refused) { _, new in new }
        self.maxHits = min(limit, self.maxHits * 2)
    }

    /// Takes down that the answer to several hits was too long.
    mutating func halveAnswered(_ count: Int) { self.maxAnswered = count / 2 }

    /// Takes down that a body of several hits was refused as a whole.
    mutating func halve(_ count: Int) { self.maxHits = max(1, count / 2) }
}
