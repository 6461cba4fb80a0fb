internal import Foundation
internal import GRDB
internal import SQLiteSink
internal import Storage
internal import TrackingReport

/// A hit of hits.db, as `tail` prints it.
struct HitRow: TailedRow {
    static let fileName = "hits.db"
    static let formatVersion = SQLiteSink.formatVersion
    static let selection = """
        SELECT rowid AS id, hit_id, kind, campaign_action, \(WholeText.column("delivery_id")),
            \(WholeText.column("broadlog_id")), \(WholeText.column("app_id")), platform,
            \(WholeText.column("subject_id")), occur_time, receive_time, tenant, traceparent,
            warnings FROM hits
        """
    static let columns: [(title: String, alignment: TextTable.Alignment)] = [
        ("received", .left), ("kind", .left), ("delivery", .left), ("broadlog", .left),
        ("platform", .left), ("app", .left), ("warnings", .left),
    ]

    let id: Int64
    let hitID: String
    let kind: String
    let campaignAction: Int
    let deliveryID: String
    let broadlogID: String
    let appID: String?
    let platform: String?
    let subjectID: String?
    let occurTime: String?
    let receiveTime: String
    let tenant: String
    let traceparent: String?
    let warnings: [String]
    private let receiveMicroseconds: Int64

    private enum CodingKeys: CodingKey {
        case id, hitID, kind, campaignAction, deliveryID, broadlogID, appID, platform, subjectID
        case occurTime, receiveTime, tenant, traceparent, warnings
    }

    init(_ row: Row) throws {
        let receiveMicroseconds = try row.decode(Int64?.self, forColumn: "receive_time") ?? 0
        let occurMicroseconds = try row.decode(Int64?.self, forColumn: "occur_time")
        let hitID = try row.decode(Data?.self, forColumn: "hit_id") ?? Data()
        let warnings = try row.decode(String?.self, forColumn: "warnings") ?? ""
        self.id = try row.decode(Int64?.self, forColumn: "id") ?? 0
        self.hitID = [UInt8](hitID).hex
        self.kind = try row.decode(String?.self, forColumn: "kind") ?? ""
        self.campaignAction = try row.decode(Int?.self, forColumn: "campaign_action") ?? 0
        self.deliveryID = try row.decode(String?.self, forColumn: "delivery_id") ?? ""
        self.broadlogID = try row.decode(String?.self, forColumn: "broadlog_id") ?? ""
        self.appID = try row.decode(String?.self, forColumn: "app_id")
        self.platform = try row.decode(String?.self, forColumn: "platform")
        self.subjectID = try row.decode(String?.self, forColumn: "subject_id")
        self.occurTime = occurMicroseconds.map(ReportTime.utc)
        self.receiveTime = ReportTime.utc(receiveMicroseconds)
        self.tenant = try row.decode(String?.self, forColumn: "tenant") ?? ""
        self.traceparent = try row.decode(String?.self, forColumn: "traceparent")
        self.warnings = warnings.split(separator: ",").map(String.init)
        self.receiveMicroseconds = receiveMicroseconds
    }

    var cells: [String] {
        [
            RowTime.local(self.receiveMicroseconds), self.kind, self.deliveryID, self.broadlogID,
            self.platform ?? "-", self.appID ?? "-", self.warnings.joined(separator: ","),
        ]
    }
}
