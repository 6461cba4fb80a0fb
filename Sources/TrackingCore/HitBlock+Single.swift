// A hit alone in the journal's form: how one comes back that had been taken out of a payload.

extension HitBlock {
    /// A payload of one block with one entry.
    ///
    /// - Parameters:
    ///   - receiveTime: microseconds since 1970.
    ///   - tenant: at most 255 bytes; the rest is cut.
    ///   - trace: the trace that the hit carries on.
    ///   - event: the client's event, byte for byte.
    package static func payload(
        key: HitKey, kind: HitKind, product: Product, warnings: Warnings, receiveTime: Int64,
        tenant: String, trace: TraceContext, event: Bytes
    ) -> [UInt8] {
        var payload = Self.header(
            entryCount: 1, entriesBytes: Self.entryBytes + event.count, receiveTime: receiveTime,
            tenant: tenant, trace: trace)
        payload.appendEntry(
            key: key, product: product, kinds: HitKinds(kind), warnings: warnings, event: event)
        return payload
    }
}
