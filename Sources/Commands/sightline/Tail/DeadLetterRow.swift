internal import Delivery
internal import Foundation
internal import GRDB
internal import SightlineProtos
internal import Storage
internal import SwiftProtobuf
internal import TrackingReport

/// A dead letter, as `tail --rejected` prints it.
struct DeadLetterRow: TailedRow {
    static let fileName = "dead_letters.db"
    static let formatVersion = DeadLetters.formatVersion
    static let selection = """
        SELECT rowid AS id, sink, sequence, position, hit_id, \(WholeText.column("reason")), tenant,
            refused_time, record FROM dead_letters
        """
    static let columns: [(title: String, alignment: TextTable.Alignment)] = [
        ("refused", .left), ("sink", .left), ("kind", .left), ("delivery", .left),
        ("broadlog", .left), ("reason", .left),
    ]

    let id: Int64
    let sink: String
    let sequence: Int64
    let position: Int64
    let hitID: String
    let kind: String?
    let deliveryID: String?
    let broadlogID: String?
    let tenant: String
    let refusedTime: String
    let reason: String
    private let refusedMicroseconds: Int64

    private enum CodingKeys: CodingKey {
        case id, sink, sequence, position, hitID, kind, deliveryID, broadlogID, tenant
        case refusedTime, reason
    }

    init(_ row: Row) throws {
        let refusedMicroseconds = try row.decode(Int64?.self, forColumn: "refused_time") ?? 0
        let hitID = try row.decode(Data?.self, forColumn: "hit_id") ?? Data()
        let bytes = try row.decode(Data?.self, forColumn: "record") ?? Data()
        // An unreadable record is shown without its ids.
        let record = try? Sightline_V1_TrackingRecord(serializedBytes: bytes)
        self.id = try row.decode(Int64?.self, forColumn: "id") ?? 0
        self.sink = try row.decode(String?.self, forColumn: "sink") ?? ""
        self.sequence = try row.decode(Int64?.self, forColumn: "sequence") ?? 0
        self.position = try row.decode(Int64?.self, forColumn: "position") ?? 0
        self.hitID = [UInt8](hitID).hex
        self.kind = record?.kind.name.lowercased()
        self.deliveryID = record?.deliveryID
        self.broadlogID = record?.broadlogID
        self.tenant = try row.decode(String?.self, forColumn: "tenant") ?? ""
        self.refusedTime = ReportTime.utc(refusedMicroseconds)
        self.reason = try row.decode(String?.self, forColumn: "reason") ?? ""
        self.refusedMicroseconds = refusedMicroseconds
    }

    var cells: [String] {
        [
            RowTime.local(self.refusedMicroseconds), self.sink, self.kind ?? "-",
            self.deliveryID ?? "-", self.broadlogID ?? "-", self.reason,
        ]
    }
}
