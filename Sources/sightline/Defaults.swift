// Defaults that several commands share.

/// Values that hold where no option says otherwise.
enum Defaults {
    /// Where the server keeps its databases, relative to the working directory.
    static let dataDirectory = "./sightline-data"
    /// Where the server listens, and where the other commands look for it.
    static let target = "127.0.0.1:50051"
    /// Where its admin server listens.
    static let admin = "127.0.0.1:9464"
}
