package import W3CTrace
package import WireFormat

extension HitBlock {
    /// A payload with a single hit, in the journal's form. Replaying a dead letter needs one.
    ///
    /// - Parameters:
    ///   - receiveTime: microseconds since 1970.
    ///   - tenant: at most 255 bytes; longer ones are truncated.
    ///   - trace: the trace context of the request's span; nil if it had none.
    ///   - event: the client's event, byte for byte.
    package static func payload(
        key: HitKey, kind: HitKind, product: Product, warnings: Warnings, receiveTime: Int64,
        tenant: String, trace: TraceContext?, event: Bytes
    ) -> [UInt8] {
        var payload = Self.header(
            entryCount: 1, entriesBytes: Self.entryBytes + event.count, receiveTime: receiveTime,
            tenant: tenant, trace: trace)
        payload.appendEntry(
            key: key, product: product, kinds: HitKinds(kind), warnings: warnings, event: event)
        return payload
    }
}
