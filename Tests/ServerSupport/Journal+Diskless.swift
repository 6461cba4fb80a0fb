package import TrackingJournal

extension Journal.Configuration {
    /// A journal without a file.
    package static var diskless: Self {
        var configuration = Self()
        configuration.mode = .off
        configuration.windowCapacity = 100
        return configuration
    }
}
