/// The operating system of a device; the numbers are those of the proto enum.
package enum Platform: Int32, Sendable, CaseIterable {
    case android = 1
    case ios = 2

    /// The name in databases and in the configuration.
    package var name: String {
        switch self {
        case .android: "android"
        case .ios: "ios"
        }
    }

    /// The platform with `number`; nil if it is unspecified or unknown (D39).
    package init?(number: Int32) { self.init(rawValue: number) }
}
