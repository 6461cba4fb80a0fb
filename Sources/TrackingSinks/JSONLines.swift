internal import SwiftProtobuf

/// Encodes a batch for the jsonl and stdout sinks.
enum JSONLines {
    /// Encodes each hit as a TrackingRecord in proto3 JSON, one per line. JSON drops unknown
    /// fields; the sqlite sink keeps them.
    ///
    /// - Returns: the lines, and by position the reasons of hits that have no JSON form.
    static func encode(_ hits: HitBatch) throws -> (lines: [UInt8], rejected: [Int: String]) {
        var lines: [UInt8] = []
        var rejected: [Int: String] = [:]
        try hits.forEach { position, hit in
            do {
                lines.append(contentsOf: try hit.record().jsonUTF8Bytes() as [UInt8])
                lines.append(UInt8(ascii: "\n"))
            } catch {
                rejected[position] = "no JSON form: \(error)"
            }
        }
        return (lines, rejected)
    }
}
