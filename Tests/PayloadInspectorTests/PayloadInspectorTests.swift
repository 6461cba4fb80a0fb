// The inspector against the vendors' payloads and against every mistake that was seen in the wild.

internal import JSON
internal import PayloadInspector
internal import TestSupport
internal import Testing
internal import TrackingRules

private typealias Severity = PayloadFinding.Severity

struct PayloadInspectorTests {
    @Test("D1, D31, D32: a sound payload gives no finding at all")
    func soundPayloads() throws {
        #expect(try PayloadRow.inspect(PayloadRow.soundIOS, .ios).findings == [])
        #expect(try PayloadRow.inspect(PayloadRow.soundIOS, .ios).tracked)
        #expect(try PayloadRow.inspect(PayloadRow.soundAndroid, .android).findings == [])
        #expect(try PayloadRow.inspect(PayloadRow.soundAndroid, .android).tracked)
    }

    @Test(
        "D31, D32, D33, D34, D35: the vendors' samples have no mistakes but missing ids",
        arguments: [
            ("apns-alert.json", .ios, true, []),
            ("apns-tester.json", .ios, false, ["_dId", "_mId"]),
            ("fcm-sent.json", .android, true, []), ("fcm-tester.json", .android, true, []),
        ] as [(String, Platform, Bool, [String])])
    func vendorSamples(
        name: String, platform: Platform, tracked: Bool, errors: [String]
    ) throws {
        let inspection = PayloadInspector().inspect(
            try PayloadDocument(Array(Fixtures.data(name))), platform: platform)
        #expect(inspection.tracked == tracked)
        let worse = inspection.findings.filter { $0.severity != .note }
        #expect(worse.map(\.key) == errors)
        #expect(worse.allSatisfy { $0.severity == .error })
    }

    @Test("D2, D3, D4, D5, D6, D7: every row of the truth table says whether it is tracked")
    func truthTable() throws {
        let rows = try Fixtures.lines("flag-truth-table.csv").dropFirst()
        #expect(rows.count == 26)
        for row in rows {
            let cells = row.split(separator: ",").map(String.init)
            try #require(cells.count == 3)
            let raw = cells[0].hasPrefix("\"") ? String(cells[0].dropFirst().dropLast()) : cells[0]
            let flag: String? = raw == "<absent>" ? nil : raw == "<empty>" ? "" : raw
            var members: JSONObject = ["_dId": .string("56c4"), "_mId": .string("h1")]
            members["_acsDeliveryTracking"] = flag.map { .string($0) }
            let platform: Platform = cells[1] == "ios" ? .ios : .android
            let payload: JSONValue =
                platform == .ios ? .object(members) : .object(["data": .object(members)])
            let inspection = try PayloadRow.inspect(payload.text, platform)
            #expect(inspection.tracked == cells[2].hasPrefix("accepted"), "\(row)")
            #expect(inspection.findings.contains { $0.severity == .error } != inspection.tracked)
        }
    }

    @Test(
        "D2, D3, D4, D5, D6, D46, D55: a flag is explained as its platform reads it",
        arguments: [
            (.android, "\"off\"", .error, false), (.android, "\"ON\"", .error, false),
            (.android, "true", .error, false), (.android, "1", .error, false),
            (.android, "null", .error, false), (.android, "\"\"", .error, false),
            (.ios, "\"OFF\"", .error, false), (.ios, "\" on \"", .error, false),
            (.ios, "\"ON\"", .note, true), (.ios, "true", .warning, true),
            (.ios, "false", .warning, true), (.ios, "1", .warning, true),
            (.ios, "null", .warning, true), (.ios, "\"ｏｎ\"", .error, false),
            (.ios, "\"oﬀ\"", .error, false),
        ] as [(Platform, String, PayloadFinding.Severity, Bool)])
    func flags(
        platform: Platform, flag: String, severity: PayloadFinding.Severity, tracked: Bool
    ) throws {
        let members = #"{"_dId":"56c4","_mId":"h138a","_acsDeliveryTracking":\#(flag)}"#
        let json = platform == .ios ? members : #"{"data":\#(members)}"#
        let key = (platform == .ios ? "" : "data.") + "_acsDeliveryTracking"
        let row = PayloadRow(platform, json, severity, key, flag, tracked: tracked)
        try row.check()
    }

    private static let idRows: [PayloadRow] = [
        PayloadRow(.ios, #"{"_dId":"56c4"}"#, .error, "_mId", "missing", tracked: false),
        PayloadRow(.ios, #"{"_dId":"","_mId":"h1"}"#, .error, "_dId", "empty", tracked: false),
        PayloadRow(
            .ios, #"{"_dId":"a","_mId":138}"#, .error, "_mId", "138", "quotes", tracked: false),
        PayloadRow(.ios, #"{"_dId":"a","_mId":null}"#, .error, "_mId", "null", tracked: false),
        PayloadRow(.android, #"{"data":{"_mId":"h1"}}"#, .error, "data._dId", tracked: false),
        PayloadRow(
            .android, #"{"data":{"_mId":"h1","_dId":5}}"#, .error, "data._dId", "an integer: 5",
            tracked: false),
        PayloadRow(.android, #"{"title":"x"}"#, .error, "data", "missing", tracked: false),
        PayloadRow(.android, #"{"data":"{}"}"#, .error, "data", "a string", tracked: false),
        PayloadRow(
            .ios, #"{"_dId":"xyz","_mId":"h1"}"#, .warning, "_dId", "xyz", "hex", tracked: true),
        PayloadRow(.ios, #"{"_dId":"a","_mId":"138a"}"#, .warning, "_mId", "138a", tracked: true),
        PayloadRow(
            .ios, #"{"_dId":"a","_mId":"undefined"}"#, .warning, "_mId", "has no id", "warning",
            tracked: true),
        PayloadRow(
            .ios, #"{"_dId":"0","_mId":"h1"}"#, .warning, "_dId", "has no id", tracked: true),
        PayloadRow(
            .android, #"{"data":{"_dId":"a","_mId":"[object Object]"}}"#, .error, "data._mId",
            "has no id", "rejected", tracked: false),
        PayloadRow(.ios, #"{"_dId":"a","_mId":"h"}"#, .warning, "_mId", "hex", tracked: true),
        PayloadRow(.ios, #"{"_dId":"a","_mId":"H1"}"#, .warning, "_mId", "hex", tracked: true),
        PayloadRow(
            .ios, #"{"_dId":"a&b","_mId":"h1"}"#, .error, "_dId", "URL", "a&b", tracked: false),
        PayloadRow(
            .ios, #"{"_dId":"\#(String(repeating: "a", count: 65))","_mId":"h1"}"#, .error, "_dId",
            "65 bytes", tracked: false),
    ]

    @Test("D8, D10, D11, D49, D55: an id that is missing or odd is named", arguments: idRows)
    func ids(row: PayloadRow) throws {
        try row.check()
    }

    @Test("D10: an id of 64 safe characters is no error, and capitals are hex")
    func idsAtTheLimit() throws {
        let id = String(repeating: "A", count: 64)
        let json = #"{"aps":{"content-available":1},"_dId":"\#(id)","_mId":"hAF09"}"#
        #expect(try PayloadRow.inspect(json, .ios).findings.map(\.key) == ["_acsDeliveryTracking"])
    }

    /// A payload of which one part has so many bytes as it is pushed.
    private struct SizedPayload: Sendable, CustomTestStringConvertible {
        let platform: Platform
        /// The part's path.
        let part: String
        let json: @Sendable (Int) -> String

        var testDescription: String { "\(self.platform) \(self.part) \(self.json(300))" }

        init(_ platform: Platform, _ part: String, json: @escaping @Sendable (Int) -> String) {
            self.platform = platform
            self.part = part
            self.json = json
        }
    }

    /// A sound object that has so many bytes as it is pushed: without the spaces in it, and with
    /// its escapes resolved, of which each stands for so many bytes.
    private static func object(
        _ byteCount: Int, _ head: String = "", escape: String = "", escapeBytes: Int = 0
    ) -> String {
        let empty = #"{\#(head)\#(PayloadRow.ids),"x":""}"#.utf8.count
        let escapes = String(repeating: escape, count: 10)
        let rest = String(repeating: "x", count: byteCount - empty - 10 * escapeBytes)
        return "{ \(head)\n\t\(PayloadRow.ids) , \"x\" : \"\(escapes)\(rest)\"}"
    }

    private static let aps = #""aps":{"content-available":1},"#
    /// What another part of a message has.
    private static let other = #"{"a":"\#(String(repeating: "z", count: 1000))"}"#

    private static let sizes = [
        SizedPayload(.ios, "") { Self.object($0, Self.aps) },
        SizedPayload(.ios, "") { Self.object($0, Self.aps, escape: #"\u0041"#, escapeBytes: 1) },
        SizedPayload(.ios, "") { Self.object($0, Self.aps, escape: #"\u00e9"#, escapeBytes: 2) },
        SizedPayload(.ios, "") {
            Self.object($0, Self.aps, escape: #"\ud83d\ude00"#, escapeBytes: 4)
        },
        SizedPayload(.ios, "") { Self.object($0, Self.aps, escape: #"\"\n\/"#, escapeBytes: 5) },
        SizedPayload(.android, "") { Self.object($0) },
        SizedPayload(.android, "data") { #"{"priority":"high","data":\#(Self.object($0))}"# },
        SizedPayload(.android, "message.data") {
            #"{"message":{"data":\#(Self.object($0)),"apns":{"payload":\#(Self.other)}}}"#
        },
        SizedPayload(.ios, "message.apns.payload") {
            #"{"message":{"data":\#(Self.other),"apns":{"payload":\#(Self.object($0, Self.aps))}}}"#
        },
    ]

    @Test("D13, D55: 4096 bytes as they are pushed arrive, and one more do not", arguments: sizes)
    private func size(_ payload: SizedPayload) throws {
        let fitting = try PayloadRow.inspect(payload.json(4096), payload.platform)
        #expect(fitting.tracked && fitting.findings.allSatisfy { $0.severity == .note })
        let inspection = try PayloadRow.inspect(payload.json(4097), payload.platform)
        let errors = inspection.findings.filter { $0.severity == .error }
        #expect(!inspection.tracked && errors.map(\.key) == [payload.part], "\(errors)")
        #expect(errors.first?.description.contains("4097 bytes as it is pushed") == true)
    }

    @Test("D55: a text that no event may hold is an error, however little of it is pushed")
    func textSize() throws {
        let limit = Limits().rawPayloadBytes
        #expect(try PayloadRow.inspect(PayloadRow.soundIOS, .ios, byteCount: limit).findings == [])
        let inspection = try PayloadRow.inspect(PayloadRow.soundIOS, .ios, byteCount: limit + 1)
        #expect(!inspection.tracked && inspection.findings.map(\.severity) == [.error])
        #expect(inspection.findings.first?.description.contains("\(limit + 1)") == true)
    }

    @Test("D13: findings come worst first, in the same order in every run, and bounded")
    func order() throws {
        let extra = (0..<500).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
        let json = #"{"aps":{},"to":"t","data":{"_dId":"a",\#(extra)}}"#
        let inspection = try PayloadRow.inspect(json, .android)
        let ranks = inspection.findings.map { finding in
            Severity.allCases.firstIndex(of: finding.severity) ?? -1
        }
        #expect(ranks == ranks.sorted())
        #expect(ranks.count == PayloadInspection.maximumFindingCount)
        #expect(try PayloadRow.inspect(json, .android) == inspection)
    }

    @Test("D13: a value is shown shortened and safe for a terminal, and a token is never shown")
    func values() throws {
        let long = String(repeating: "x", count: 5000)
        let json = #"{"to":"secret","data":{"_mId":"\#(long)","_dId":"\u001b[31m"}}"#
        for finding in try PayloadRow.inspect(json, .android).findings {
            #expect(finding.description.utf8.count < 500)
            #expect(!finding.description.contains("\u{1B}"))
            #expect(!finding.description.contains("secret"))
        }
    }
}
