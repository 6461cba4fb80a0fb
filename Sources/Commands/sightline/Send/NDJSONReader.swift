internal import JSON
package import SightlineProtos
internal import SwiftProtobuf
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

/// Parses NDJSON incrementally: each line is an event in proto3 JSON. Buffers one incomplete line
/// of at most `maxLineByteCount` bytes.
package struct NDJSONReader: Sendable {
    /// The maximum bytes of a line: an event has at most 16 KiB, its JSON a few times as much.
    package static let maxLineByteCount = 1024 * 1024
    /// What editors put before a text in UTF-8.
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    private var unfinished: [UInt8] = []
    private var lineCount = 0
    private var isOverlong = false

    /// Creates a reader at line 1.
    package init() {}

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
        do {
            let event = try Sightline_V1_TrackingEvent(jsonUTF8Bytes: self.unfinished)
            return .event(event, line: self.lineCount)
        } catch JSONDecodingError.malformedMap {
            return self.lineOfKeysAlike()
        } catch {
            return .bad(self.judge(error))
        }
    }

    /// The line again, if a map of it has keys that SwiftProtobuf takes for one.
    private func lineOfKeysAlike() -> NDJSONLine {
        do {
            let event = try Sightline_V1_TrackingEvent(keysAlike: self.unfinished)
            return .event(event, line: self.lineCount)
        } catch let error as RepeatedKeyError {
            let reason = "\(error)".printable
            let column = self.column(ofField: error.path)
            return .bad(BadLine(line: self.lineCount, column: column, reason: reason))
        } catch {
            return .bad(self.judge(error))
        }
    }

    private func judge(_ error: any Error) -> BadLine {
        let event: JSONValue
        do throws(JSONFault) {
            event = try JSONValue(event: self.unfinished)
        } catch {
            return self.unreadable(error)
        }
        if let platform = PayloadForm.platform(of: event) {
            return BadLine(
                line: self.lineCount, column: nil,
                reason: "this is \(MissingPlatformError.reason(platform)), a file each")
        }
        // SwiftProtobuf reports no position.
        if let fault = EventSchema.own?.fault(in: event) {
            return BadLine(
                line: self.lineCount, column: self.column(ofField: fault.path),
                reason: "this is JSON and no TrackingEvent: \(fault); compare it with event.proto")
        }
        let reason =
            "this is JSON and no TrackingEvent: \(Self.words(for: error)); compare it "
            + "with event.proto"
        return BadLine(line: self.lineCount, column: nil, reason: reason)
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

    /// The column of a field's name; nil if the line spells it in another way.
    private func column(ofField path: [String]) -> Int? {
        var place: Int?
        for name in path {
            let start = place.map { $0 + 1 } ?? 0
            place = self.place(of: Array("\"\(name)\"".utf8), from: start)
            guard place != nil else { return nil }
        }
        return place.map(self.column(of:))
    }

    private func place(of part: [UInt8], from start: Int) -> Int? {
        let last = self.unfinished.count - part.count
        guard start <= last else { return nil }
        return (start...last).first { place in
            self.unfinished[place..<(place + part.count)].elementsEqual(part)
        }
    }

    /// What no field explains: names that occur twice, for the most part.
    private static func words(for error: any Error) -> String {
        guard let error = error as? JSONDecodingError, case .conflictingOneOf = error else {
            return "a value has a wrong type (\(error))".printable
        }
        return "two fields exclude each other, or one of them is there twice"
    }
}
