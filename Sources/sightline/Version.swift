/// The program's version, defined here only.
enum Version {
    static let text = "0.1.0"
}
