internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// Hits that are delivered at once, in the journal's order.
public struct SinkBatch: Sendable {
    /// The journal's random id. Positions of different journals cannot be compared.
    public let journalID: String
    /// The hits; at least one.
    public let hits: [SinkHit]
}

/// A hit: what Campaign counts once.
public struct SinkHit: Sendable, Equatable {
    /// 16 bytes, the same each time the same fact is reported: deduplicate by it.
    public let id: [UInt8]
    /// The kind of hit, such as `click` or `open`.
    public let kind: String
    /// The product's own number for the kind; 0 for a Firebase in-app message.
    public let campaignAction: UInt32
    /// deliveryId. For a Firebase in-app message, its message id.
    public let deliveryID: String
    /// broadlogId. Empty for a Firebase in-app message.
    public let broadlogID: String
    /// The tenant that sent the event, according to its credentials.
    public let tenant: String
    /// The app's bundle id or package name; empty if the event has none.
    public let appID: String
    /// `android` or `ios`; empty if neither the event nor its payload has one.
    public let platform: String
    /// The recipient's id, or its hash with `privacy.subject: hashed`; empty if the event has none,
    /// or if the recipient was forgotten.
    public let subjectID: String
    /// When it happened by the device's clock, in microseconds since 1970; nil if the event does
    /// not say. It is not corrected.
    public let occurTime: Int64?
    /// When the server received the event, in microseconds since 1970.
    public let receiveTime: Int64
    /// The whole hit: a `sightline.v1.TrackingRecord` in protobuf, with the event as the client
    /// sent it.
    public let record: [UInt8]
    /// The sequence of the hit's group in the journal. A backend that stores the newest sequence
    /// and index with its hits knows what it has after a crash.
    public let sequence: Int64
    /// The index of the hit in its group.
    public let index: Int
}

/// A batch in the form of the public seam.
struct PublicBatch {
    private(set) var hits: [SinkHit] = []

    /// - Throws: `DamagedPayload` if the batch cannot be read.
    init(_ batch: HitBatch) throws {
        var writer = RecordWriter()
        var groups = batch.groups.makeIterator()
        var group = groups.next()
        try batch.forEach { position, hit in
            while let current = group, position >= current.positions.upperBound {
                group = groups.next()
            }
            guard let group else { return }
            var record: [UInt8] = []
            record.reserveCapacity(writer.prepare(hit))
            writer.append(hit, to: &record)
            self.hits.append(
                SinkHit(
                    hit, record: record, sequence: group.sequence,
                    index: position - group.positions.lowerBound))
        }
    }
}

extension SinkHit {
    fileprivate init(_ hit: Hit, record: [UInt8], sequence: Int64, index: Int) {
        self.id = hit.id
        self.kind = "\(hit.kind.name)"
        self.campaignAction = hit.campaignAction
        self.deliveryID = hit.deliveryID.text
        self.broadlogID = hit.broadlogID.text
        self.tenant = hit.request.tenant.text
        self.appID = hit.appID.text
        self.platform = hit.platform?.name ?? ""
        self.subjectID = hit.subjectID.text
        self.occurTime = hit.occurTime
        self.receiveTime = hit.request.receiveTime
        self.record = record
        self.sequence = sequence
        self.index = index
    }
}
