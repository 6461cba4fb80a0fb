// Hits as lines of protobuf JSON: what the jsonl and stdout sinks write.
internal import SwiftProtobuf

/// Turns a batch into lines.
enum JSONLines {
    /// One TrackingRecord in proto3 JSON per hit, each ended by a newline. JSON has no place for
    /// fields that this version does not know; the sqlite sink keeps them.
    ///
    /// - Returns: the lines, and the positions of hits that have no JSON form with the reason.
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
