internal import TrackingRules
package import WireFormat

/// A recipient who is to be forgotten, as the events of a tenant name it.
package struct Subject: Sendable, Equatable {
    /// The tenant.
    package let tenant: String
    /// The id, and the hashes under which `privacy.subject` has recorded it.
    package let ids: [String]

    /// The type of the message by which receivers of hits are told, as CloudEvents have it.
    package static let forgottenType = "sightline.v1.subject.forgotten"

    /// Creates a subject of a tenant.
    package init(tenant: String, ids: [String]) { (self.tenant, self.ids) = (tenant, ids) }

    /// Whether an event is of this subject.
    ///
    /// - Throws: `WireError` if the bytes are not a TrackingEvent.
    package func isOf(_ event: Bytes) throws(WireError) -> Bool {
        let id = try EventView(event).subjectID
        return !id.isEmpty && self.ids.contains { $0.utf8.elementsEqual(id) }
    }

    /// Whether one of the ids stands somewhere in these bytes.
    package func occurs(in bytes: [UInt8]) -> Bool {
        self.ids.contains { bytes.firstRange(of: $0.utf8) != nil }
    }
}
