import SwiftUI

@main
struct LatlasApp: App {
    @StateObject private var measurement = Measurement()

    var body: some Scene {
        WindowGroup {
            ContentView().environmentObject(measurement)
        }
    }
}
