internal import Logging

/// Encodes a log record as a line of JSON (RFC 8259), truncated at the limit.
struct JSONLine {
    /// Marks a truncated record.
    private static let cutMark = Array(#","cut":true"#.utf8)
    private static let end = Array("}\n".utf8)
    /// The record's own keys; metadata with such a key get an underscore.
    private static let ownKeys: Set = ["time", "level", "logger", "msg", "service.name", "cut"]
    /// The maximum nesting of metadata.
    private static let maxDepth = 8

    private var bytes: [UInt8] = []
    private let maxBytes: Int
    private var isCut = false

    private init(maxBytes: Int) {
        // Leave room for the end of the line.
        self.maxBytes = maxBytes - Self.cutMark.count - Self.end.count
        self.bytes.reserveCapacity(512)
    }

    /// Encodes a record.
    static func bytes(_ record: LogRecord, maxBytes: Int = LogRecord.maxBytes) -> [UInt8] {
        var line = JSONLine(maxBytes: maxBytes)
        line.add("time", .string(LogTime.text(record.time)))
        line.add("level", .string(record.level.rawValue))
        line.add("logger", .string(record.logger))
        line.add("msg", .string(record.message))
        if !record.service.isEmpty { line.add("service.name", .string(record.service)) }
        if let traceID = record.traceID { line.add("trace_id", .string(traceID)) }
        if let spanID = record.spanID { line.add("span_id", .string(spanID)) }
        for (key, value) in record.metadata {
            line.add(Self.ownKeys.contains(key) ? key + "_" : key, value)
        }
        if line.isCut { line.bytes += Self.cutMark }
        return line.bytes + Self.end
    }

    /// Adds a field. Text that is too long is truncated, other values are omitted, and no further
    /// field is added.
    private mutating func add(_ key: String, _ value: Logger.Metadata.Value) {
        guard !self.isCut else { return }
        let start = self.bytes.count
        self.bytes.append(UInt8(ascii: start == 0 ? "{" : ","))
        let hasKey = self.append(quoted: key)
        self.bytes.append(UInt8(ascii: ":"))
        guard hasKey, self.bytes.count + 2 <= self.maxBytes else {
            self.cut(to: start)
            return
        }
        let valueStart = self.bytes.count
        guard !self.append(value, depth: 0) else { return }
        switch value {
        case .string: self.isCut = true
        case .stringConvertible where self.bytes.count > valueStart: self.isCut = true
        case .array, .dictionary, .stringConvertible:
            self.bytes.removeSubrange(valueStart...)
            self.bytes += "null".utf8
            self.bytes.count <= self.maxBytes ? self.isCut = true : self.cut(to: start)
        }
    }

    private mutating func cut(to count: Int) {
        self.bytes.removeSubrange(count...)
        self.isCut = true
    }

    /// Appends a value; false if it did not fit.
    private mutating func append(_ value: Logger.Metadata.Value, depth: Int) -> Bool {
        guard depth < Self.maxDepth else { return self.append(quoted: "…") }
        switch value {
        case .string(let text): return self.append(quoted: text)
        case .stringConvertible(let value):
            guard let literal = Self.literal(of: value) else {
                return self.append(quoted: value.description)
            }
            guard self.bytes.count + literal.utf8.count <= self.maxBytes else { return false }
            self.bytes += literal.utf8
        case .array(let values):
            self.bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { self.bytes.append(UInt8(ascii: ",")) }
                guard self.append(value, depth: depth + 1) else { return false }
            }
            self.bytes.append(UInt8(ascii: "]"))
        case .dictionary(let values):
            self.bytes.append(UInt8(ascii: "{"))
            for (index, pair) in values.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { self.bytes.append(UInt8(ascii: ",")) }
                guard self.append(quoted: pair.key) else { return false }
                self.bytes.append(UInt8(ascii: ":"))
                guard self.append(pair.value, depth: depth + 1) else { return false }
            }
            self.bytes.append(UInt8(ascii: "}"))
        }
        return self.bytes.count <= self.maxBytes
    }

    /// The JSON literal of a number, true or false; nil for values that need quotes.
    private static func literal(of value: any CustomStringConvertible) -> String? {
        switch value {
        case let flag as Bool: flag.description
        case let number as any BinaryInteger: number.description
        // JSON has no infinity.
        case let number as Double: number.isFinite ? number.description : nil
        default: nil
        }
    }

    /// Appends quoted text, truncated if necessary; false if it was.
    private mutating func append(quoted text: String) -> Bool {
        self.bytes.append(UInt8(ascii: "\""))
        let isWhole = LogEscape.append(text, to: &self.bytes, limit: self.maxBytes - 1)
        self.bytes.append(UInt8(ascii: "\""))
        return isWhole && self.bytes.count <= self.maxBytes
    }
}
