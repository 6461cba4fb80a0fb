internal import EventJSON
internal import JSON
package import SightlineProtos
internal import TrackingReport
internal import WireFormat

/// A malformed line.
package struct BadLine: Sendable, Equatable {
    /// The line's number, from 1.
    package var line: Int
    /// The position in the line in characters, from 1; nil if unknown.
    package var column: Int?
    /// What is wrong, and the fix.
    package var reason: String

    /// Creates the error of a line.
    package init(line: Int, column: Int?, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }
}

/// A line of an event file.
package enum NDJSONLine: Sendable, Equatable {
    /// An event and its line's number, from 1.
    case event(Sightline_V1_TrackingEvent, line: Int)
    /// A malformed line; later lines are still read.
    case bad(BadLine)
}

/// Parses NDJSON incrementally: each line is an event in JSON. Buffers one incomplete line
/// of at most `maxLineByteCount` bytes.
package struct NDJSONReader: Sendable {
    /// The maximum bytes of a line: an event has at most 16 KiB, its JSON a few times as much.
    package static let maxLineByteCount = 1024 * 1024
    /// What editors put before a text in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private let table: EventTable
    private var unfinished: [UInt8] = []
    private var lineCount = 0
    private var isOverlong = false

    /// Creates a reader at line 1.
    ///
    /// - Throws: an error of SwiftProtobuf if the descriptors that were compiled in are damaged.
    package init() throws { self.table = try EventTable.own() }

    /// Parses further bytes; returns the completed lines. Empty lines are counted but not returned.
    package mutating func feed(_ bytes: some Collection<UInt8>) -> [NDJSONLine] {
        var lines: [NDJSONLine] = []
        var rest = bytes[...]
        while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
            self.append(rest[..<newline])
            rest = rest[rest.index(after: newline)...]
            if let line = self.endLine() { lines.append(line) }
        }
        self.append(rest)
        return lines
    }

    /// Returns the last line if no newline ends it.
    package mutating func finish() -> NDJSONLine? {
        guard self.isOverlong || !self.unfinished.isEmpty else { return nil }
        return self.endLine()
    }

    private mutating func append(_ bytes: some Collection<UInt8>) {
        guard !self.isOverlong else { return }
        guard bytes.count <= Self.maxLineByteCount - self.unfinished.count else {
            self.isOverlong = true
            self.unfinished = []
            return
        }
        self.unfinished.append(contentsOf: bytes)
    }

    private mutating func endLine() -> NDJSONLine? {
        self.lineCount += 1
        defer {
            self.unfinished.removeAll(keepingCapacity: true)
            self.isOverlong = false
        }
        if self.isOverlong {
            let reason =
                "the line has more than \(Self.maxLineByteCount) bytes; write one event to a line"
            return .bad(BadLine(line: self.lineCount, column: nil, reason: reason))
        }
        if self.lineCount == 1, self.unfinished.starts(with: Self.byteOrderMark) {
            self.unfinished.removeFirst(Self.byteOrderMark.count)
        }
        if self.unfinished.last == UInt8(ascii: "\r") { self.unfinished.removeLast() }
        guard self.unfinished.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return nil }
        var bytes: [UInt8] = []
        do throws(JSONFault) {
            if let fault = try self.transcode(into: &bytes) { return .bad(self.judge(fault)) }
        } catch {
            return .bad(self.unreadable(error))
        }
        do {
            let event = try Sightline_V1_TrackingEvent(exactly: bytes)
            return .event(event, line: self.lineCount)
        } catch {
            let reason = "this is an event that cannot be sent: \(error)".printable
            return .bad(BadLine(line: self.lineCount, column: nil, reason: reason))
        }
    }

    /// Reads the line as the server's HTTP door reads an event.
    ///
    /// - Returns: why it is no event.
    private func transcode(into bytes: inout [UInt8]) throws(JSONFault) -> EventFault? {
        let result = self.unfinished.withUnsafeBytes { line in
            Result { () throws(JSONFault) in
                var transcoder = EventTranscoder(line, by: self.table)
                let fault = try transcoder.append()
                try transcoder.cursor.finish()
                return (fault, transcoder.bytes)
            }
        }
        let fault: EventFault?
        (fault, bytes) = try result.get()
        return fault
    }

    private func judge(_ fault: EventFault) -> BadLine {
        // Its own numbers and texts may be none that a payload has.
        if let payload = try? JSONValue(event: self.unfinished),
            let platform = PayloadForm.platform(of: payload)
        {
            return BadLine(
                line: self.lineCount, column: nil,
                reason: "this is \(MissingPlatformError.reason(platform)), a file each")
        }
        return BadLine(
            line: self.lineCount, column: fault.offset.map(self.column(of:)),
            reason: "this is JSON and no TrackingEvent: \(fault); compare it with event.proto")
    }

    private func unreadable(_ fault: JSONFault) -> BadLine {
        guard let place = fault.offset, !fault.isTooDeep else {
            let reason =
                "this cannot be read: \(fault.reason); write one event in proto3 JSON to a line"
            return BadLine(
                line: self.lineCount, column: fault.offset.map(self.column(of:)), reason: reason)
        }
        let rest = String(decoding: self.unfinished.dropFirst(place).prefix(64), as: UTF8.self)
        let reason =
            rest.isEmpty
            ? "the line ends inside its JSON: \(fault.reason); write one whole event to a line"
            : "this is no JSON from here on: \(fault.reason), and here is "
                + "`\(rest.cut(toScalars: 16).printable)`; write one event in proto3 JSON to a line"
        return BadLine(line: self.lineCount, column: self.column(of: place), reason: reason)
    }

    /// Counts characters rather than bytes, as editors do.
    private func column(of place: Int) -> Int {
        String(decoding: self.unfinished.prefix(place), as: UTF8.self).count + 1
    }
}
