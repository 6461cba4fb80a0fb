package import GRPCCore
package import W3CTrace

extension TraceContext {
    /// Reads traceparent and tracestate; nil if absent or malformed.
    package init?(_ metadata: Metadata) {
        // Several traceparents are invalid and ignored, as the specification requires.
        let parents = Array(metadata[stringValues: "traceparent"])
        guard parents.count == 1, let parent = parents.first else { return nil }
        let state = metadata[stringValues: "tracestate"].joined(separator: ",")
        // White space around a header's value is not part of it (RFC 9110, section 5.5).
        self.init(traceparent: parent.trimmed, tracestate: state.trimmed)
    }
}

extension Baggage {
    /// Reads the baggage; nil if absent or malformed.
    package init?(_ metadata: Metadata) {
        self.init(header: metadata[stringValues: "baggage"].joined(separator: ","))
    }
}

extension String {
    fileprivate var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = self.first, let last = self.last, isSpace(first) || isSpace(last) else {
            return self
        }
        return String(self.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
