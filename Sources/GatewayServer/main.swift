print("data-gateway")
