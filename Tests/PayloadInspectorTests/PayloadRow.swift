// One row of the inspector's tables, and how it is checked.

internal import PayloadInspector
internal import TestSupport
internal import Testing
internal import TrackingRules

/// A payload, what it has to give at one key, and whether it is tracked.
struct PayloadRow: CustomTestStringConvertible, Sendable {
    let platform: Platform
    let json: String
    let key: String
    let severity: PayloadFinding.Severity
    let words: [String]
    let tracked: Bool

    init(
        _ platform: Platform, _ json: String, _ severity: PayloadFinding.Severity,
        _ key: String, _ words: String..., tracked: Bool
    ) {
        self.platform = platform
        self.json = json
        self.severity = severity
        self.key = key
        self.words = words
        self.tracked = tracked
    }

    var testDescription: String { "\(self.platform) \(self.json)" }

    /// Two sound ids and a flag, as members of an object.
    static let ids = #""_dId":"56c4","_mId":"h138a","_acsDeliveryTracking":"on""#
    /// Payloads that give no finding.
    static let soundIOS = #"{"aps":{"alert":{"title":"t"},"content-available":1},\#(ids)}"#
    static let soundAndroid = #"{"data":{"title":"t",\#(ids)},"priority":"high"}"#

    /// Inspects the payload, and expects the finding among all that there are.
    func check() throws {
        let inspection = try Self.inspect(self.json, self.platform)
        #expect(inspection.tracked == self.tracked)
        let hasError = inspection.findings.contains { $0.severity == .error }
        #expect(inspection.tracked != hasError, "D55: tracked exactly where nothing is an error")
        let findings = inspection.findings.filter {
            $0.key == self.key && $0.severity == self.severity
        }
        let matches = findings.contains { finding in
            self.words.allSatisfy { finding.description.contains($0) }
        }
        #expect(matches, "\(inspection.findings)")
    }

    /// Inspects JSON written in a test, with spaces behind it up to a size.
    static func inspect(
        _ json: String, _ platform: Platform, byteCount: Int = 0
    ) throws -> PayloadInspection {
        let count = max(byteCount - json.utf8.count, 0)
        let bytes = Array(json.utf8) + [UInt8](repeating: 0x20, count: count)
        return PayloadInspector().inspect(try PayloadDocument(bytes), platform: platform)
    }
}
