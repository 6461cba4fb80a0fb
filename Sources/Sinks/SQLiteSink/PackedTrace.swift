internal import W3CTrace
internal import WireFormat

/// A traceparent of version 00 in 25 bytes instead of 55: trace id, span id, flags.
struct PackedTrace {
    /// The SQL that turns a packed traceparent into its text; one that was not packed stays as it
    /// is.
    static let unpacking = """
        CASE typeof(traceparent) WHEN 'blob' THEN '00-' || lower(hex(substr(traceparent, 1, 16)))
            || '-' || lower(hex(substr(traceparent, 17, 8)))
            || '-' || lower(hex(substr(traceparent, 25))) ELSE traceparent END
        """

    /// Nil if unpacking would not give the same text.
    private let context: TraceContext?

    /// Packs the text of a traceparent.
    init(_ traceparent: Bytes) {
        guard let context = TraceContext(traceparent: traceparent),
            traceparent.elementsEqual(context.traceparent.utf8)
        else {
            self.context = nil
            return
        }
        self.context = context
    }

    /// Calls `body` with the packed bytes, or with nil if the text has to be stored.
    func withBytes<Value>(_ body: (Bytes?) throws -> Value) rethrows -> Value {
        guard let context else { return try body(nil) }
        // The tuple has no padding up to the flags.
        let packed = (
            context.traceID.high.bigEndian, context.traceID.low.bigEndian,
            context.spanID.bigEndian, UInt8(context.isSampled ? 1 : 0)
        )
        return try withUnsafeBytes(of: packed) { try body(Bytes(rebasing: $0[..<25])) }
    }
}
