/// A rule that a rejected event breaks, as the client's answer shows it.
package struct Violation: Sendable, Equatable {
    /// The field's path, e.g. "push.apns.message_id".
    package let field: String
    /// The kind of rule.
    package let code: Code
    /// The rule, the value seen, and the fix, as text.
    package let description: String

    /// The kinds of rule; the numbers are those of the proto enum.
    package enum Code: UInt8, Sendable, CaseIterable {
        case required = 1
        case format = 2
        case range = 3
        case tooLarge = 4
        case conflict = 5
        case malformed = 6

        /// The name in metrics, e.g. "too_large".
        package var name: StaticString {
            switch self {
            case .required: "required"
            case .format: "format"
            case .range: "range"
            case .tooLarge: "too_large"
            case .conflict: "conflict"
            case .malformed: "malformed"
            }
        }
    }

    /// A violation of `code` at `field`.
    package init(_ field: String, _ code: Code, _ description: String) {
        self.field = field
        self.code = code
        self.description = description
    }
}
