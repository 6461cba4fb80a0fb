// Form rules: required fields and size limits (D39, D41…D43, D50). Reports every violation.
internal import WireFormat

extension [Violation] {
    mutating func require(_ field: String, _ rule: String) {
        self.append(Violation(field, .required, "missing: \(rule)"))
    }

    mutating func range(_ field: String, _ value: Int32, _ rule: String) {
        self.append(Violation(field, .range, "\(value) is not in the enum: send \(rule)"))
    }

    mutating func conflict(_ payload: String, _ platform: String) {
        self.append(
            Violation(
                "platform", .conflict,
                "PLATFORM_\(platform) contradicts the \(payload) payload: send the payload's own "
                    + "platform, or none"))
    }

    mutating func checkProduct(_ field: String, _ number: Int32) {
        guard Product(number: number) == nil else { return }
        self.range(field, number, "0 or 1 (Standard) or 2 (Classic)")
    }

    mutating func tooLarge(_ field: String, _ count: Int, limit: Int) {
        self.append(
            Violation(field, .tooLarge, "\(count) bytes, the limit is \(limit): shorten it"))
    }

    mutating func limit(_ field: String, _ value: Bytes, to limit: Int) {
        if value.count > limit { self.tooLarge(field, value.count, limit: limit) }
    }

    mutating func limit(
        _ field: String, _ measure: MapMeasure, of event: Bytes, _ map: EventMap = .customFields
    ) {
        guard measure.isOverLimit else { return }
        let exact = MapMeasure.exact(of: event, map)
        if exact.count > Limits.mapEntries {
            self.append(
                Violation(
                    field, .tooLarge,
                    "\(exact.count) entries, the limit is \(Limits.mapEntries): send fewer"))
        }
        if exact.longestKey > Limits.mapKeyBytes {
            self.tooLarge("\(field).key", exact.longestKey, limit: Limits.mapKeyBytes)
        }
        if exact.longestValue > Limits.mapValueBytes {
            self.tooLarge("\(field).value", exact.longestValue, limit: Limits.mapValueBytes)
        }
    }
}

extension MapMeasure {
    fileprivate var isOverLimit: Bool {
        self.count > Limits.mapEntries || self.longestKey > Limits.mapKeyBytes
            || self.longestValue > Limits.mapValueBytes
    }
}
