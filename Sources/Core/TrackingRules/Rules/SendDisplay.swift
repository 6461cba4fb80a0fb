/// Who shows a push to its recipient; the numbers are those of the proto enum.
package enum SendDisplay: Int32, Sendable, CaseIterable {
    case system = 1
    case app = 2
    case silent = 3

    /// The name in messages, e.g. "system".
    package var name: StaticString {
        switch self {
        case .system: "system"
        case .app: "app"
        case .silent: "silent"
        }
    }
}
